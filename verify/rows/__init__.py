"""The rows of a report: assumptions, bounds, certificates, what may be cited."""
