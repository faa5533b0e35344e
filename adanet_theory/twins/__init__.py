"""The sympy twin of every statement, written apart from the numeric form; LaTeX, JavaScript and balls from it."""
