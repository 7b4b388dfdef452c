"""Room table."""
