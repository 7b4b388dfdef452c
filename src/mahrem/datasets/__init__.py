"""Room datasets."""
