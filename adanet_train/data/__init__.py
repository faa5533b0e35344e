"""Reading samples, and the map from X to Psi."""
