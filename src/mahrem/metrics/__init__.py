"""Room metrics."""
