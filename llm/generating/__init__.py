"""Texts that models write: the wordings that they are asked with, and what can be wrong with a text. Pure."""
