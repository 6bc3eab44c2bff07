"""Labels as they stand and as they came to be."""
