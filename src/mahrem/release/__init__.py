"""Room release."""
