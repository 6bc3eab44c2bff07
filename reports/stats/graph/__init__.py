"""How far two graphs of states agree: nodes matched step by step, then edges between what was matched. Pure NumPy."""
