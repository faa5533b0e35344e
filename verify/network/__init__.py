"""verify-bounds: a network and its sample in, what the theory says about it out."""
