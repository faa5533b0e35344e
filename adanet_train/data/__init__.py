"""Where samples come from, and the map from X to Psi."""
