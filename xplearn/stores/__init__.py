"""Banks: in memory, and in one SQLite file."""
