"""Room pipeline."""
