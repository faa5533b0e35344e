"""The sympy twin of every statement, written independently of the numeric form, with LaTeX, JavaScript and balls."""
