"""Networks of few bits: the code, the search for a short network, its file, and the check of it on a sample."""
