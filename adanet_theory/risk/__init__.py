"""Bounds on the risk by margins: Theorem 1 and its corrections, a-posteriori, several classes."""
