"""What becomes of a recipe: each of its items memorised, found inexactly, creative or nonsense.

`outcomes` decides and counts (pure), `contents` says it in sentences, tables and figures, `queries` reads the study
that looked for the items in documents, and the one that examined them for nonsense.
"""

from __future__ import annotations

SCHEME = "recipe-memorization"  # of the studies that have a verdict: their items are looked for in documents
NONSENSE = "recipe-nonsense"  # of the studies by which recipes are examined
