"""Language models: the engine, the backends that reach them, and what makes others' text harmless to a prompt."""
