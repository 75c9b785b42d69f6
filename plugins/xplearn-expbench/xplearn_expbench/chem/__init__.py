"""Molecules: read and measured through RDKit, which is imported when first needed, and the mini rows that are made of them."""
