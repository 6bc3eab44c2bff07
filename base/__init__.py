"""What every floor uses: sentences for people, text that can be stored, YAML of strangers. Pure."""
