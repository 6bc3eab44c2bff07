"""Judges weighed together."""
