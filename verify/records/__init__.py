"""The data that the other packages exchange: the question, and the report that answers it."""
