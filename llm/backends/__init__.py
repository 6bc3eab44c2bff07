"""Where a model runs: in this process, or behind a server."""
