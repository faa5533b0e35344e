"""An nn.Module read as a network: its graph, its rounding errors, its path norm."""
