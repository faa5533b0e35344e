"""Rademacher complexities: exact and sampled values, suprema over one unit, and what others have published."""
