"""Criteo's clicks: rows of counts and words, and their embeddings."""
