"""Who labels which document, and which documents several people label: the planner's arithmetic, free of Django.

design.py     what is asked for and what comes out
blocks.py     which raters work on which sheet
sampling.py   which rows: by facet, and a stratified sample of them
drawing.py    the balanced design of a request
levelling.py  the design made level with what raters have already
replanning.py who takes over open work, with as little moved as balance allows
adding.py     more people for documents that somebody has
precision.py  how wide the interval of kappa will be
"""

from __future__ import annotations

from annotation.planning.design import Design, ImpossibleDesign, OverlapRequest
from annotation.planning.drawing import NOTHING_SHARED, balanced_design
from annotation.planning.sampling import BY_SHEET, RowChoice
