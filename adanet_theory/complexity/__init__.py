"""Rademacher complexities: exact and sampled values, suprema over one unit, and published bounds."""
