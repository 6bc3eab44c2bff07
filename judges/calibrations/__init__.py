"""Calibrations of stored scores, and examples drawn from people's labels."""
