"""Who labels which document, and which documents several people label: the planner's arithmetic, free of Django.

design.py     what is asked for and what comes out
blocks.py     which raters work on which sheet
drawing.py    the balanced design of a request
levelling.py  the design made level with what raters have already
replanning.py who takes over open work, with as little moved as balance allows
precision.py  how wide the interval of kappa will be
"""

from __future__ import annotations

from annotation.overlap.design import Design, ImpossibleDesign, OverlapRequest
from annotation.overlap.drawing import balanced_design

__all__ = ["Design", "ImpossibleDesign", "OverlapRequest", "balanced_design"]
