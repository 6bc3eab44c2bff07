"""Tokens and money: what runs have spent, and where they pause."""
