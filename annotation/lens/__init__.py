"""Everybody's labels of a sheet side by side. Reads only."""
