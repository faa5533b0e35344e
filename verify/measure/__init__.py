"""What is measured on a network and its sample: margins, norms, complexities of the layers, repeated rows."""
