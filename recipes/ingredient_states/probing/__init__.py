"""What models know of the states of ingredients: three tasks made of annotated recipes, their scores, and training."""
