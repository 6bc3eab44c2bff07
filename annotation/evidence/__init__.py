"""What is looked at: blocks of text, and where the words of an item stand in them. Pure."""
