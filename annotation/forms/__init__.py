"""What people send to the core's pages, checked."""
