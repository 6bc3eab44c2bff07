"""What a judge came from: versions, arms, and the rows that they have seen."""
