"""Encoders: text to vector."""
