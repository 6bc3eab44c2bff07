"""Visiting servers of strangers: which addresses may be, and connections that go there and nowhere else. Pure."""
