"""The convex step of AdaNet and AdaNet.CVX, with its certificate of optimality."""
