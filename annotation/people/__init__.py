"""What somebody may see, and mail to them."""
