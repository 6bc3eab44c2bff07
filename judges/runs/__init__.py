"""What a run of a judge does to one row: its evidence, its prompts, its answers. Writes nothing."""
