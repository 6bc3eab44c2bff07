"""Labels as a self-contained table, and as the arrays that the statistics take. Pure."""
