"""The property suite: `pytest --pyargs verify`, or `make thorough` in the repository."""
