"""Studies made of other studies: chosen labels become rows, columns or evidence, and what each rests on is kept."""
