"""The documentation site: pages made from the catalogue, the twins, the ledger and the proofs.

`python -m figures.documents` writes them next to the pages of paper_notes/site, for Sphinx.
"""
