"""The documentation site: the pages that are made from the catalogue, the twins, the ledger and the proofs.

`python -m figures.documents` puts them beside the written ones of paper_notes/site, where Sphinx finds them.
"""
