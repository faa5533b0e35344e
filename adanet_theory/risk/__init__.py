"""Bounds on the risk by margins: Theorem 1 and its repairs, a-posteriori, several classes."""
