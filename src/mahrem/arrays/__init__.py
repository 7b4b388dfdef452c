"""Room arrays."""
