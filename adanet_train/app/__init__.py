"""The command adanet-train: arguments, inputs, runs, progress, processes."""
