"""Room recode."""
