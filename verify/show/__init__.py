"""A report on the screen, as JSON, TeX and HTML, and the pictures of it. Nothing is computed here."""
