"""model.pt: read, validated, written."""
