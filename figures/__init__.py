"""Figures for papers: each a module with compute(quick=..) -> data, draw(data) -> Figure and caption(data) -> str.

python -m figures draws them. `gallery` has their names, keeps their data and writes the files.
"""
