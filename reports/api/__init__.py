"""Reports over HTTP for programs: what the pages show, under the same filters."""
