"""The numbers of a report: arrays in, frozen results out. Pure."""
