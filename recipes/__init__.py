"""Domain packs: a folder each. Nothing outside a folder names it; see packs.py."""
