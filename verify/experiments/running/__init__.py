"""Trials run on cores or a cluster, kept in a store, chosen by validation, and written as results."""
