"""The published files, read: one module for each format, each with ``load(path) -> list[Row]``."""
