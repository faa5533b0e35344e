"""Reads what verify-bounds is given: networks, files, points."""
