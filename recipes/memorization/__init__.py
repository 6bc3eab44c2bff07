"""The recipe-memorization paper: its study, its published totals, the demo."""
