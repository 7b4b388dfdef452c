"""Room engines."""
