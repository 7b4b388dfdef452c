"""Room partition."""
