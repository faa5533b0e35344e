"""What verify-bounds is given, read: networks, files, points."""
