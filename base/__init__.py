"""What every floor uses: sentences for people, text that can be stored, YAML of strangers, visits to their servers,
secrets that lie in a database. Pure."""
