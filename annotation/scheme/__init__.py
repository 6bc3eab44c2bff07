"""What is asked: the scheme file, its rules, and schemes made out of answers. Pure."""
