"""The core over HTTP for programs: a second door to the same reads and actions as the pages."""
