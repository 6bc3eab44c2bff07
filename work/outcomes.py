"""How doing an item can end other than well; each but `GiveUp` is raised by who does it. `str()` is for people."""

from __future__ import annotations


class Outcome(Exception):
    pass


class GiveUp(Outcome):
    """The run was cancelled, or the item belongs to another worker now."""


class NotYet(GiveUp):
    """Something else has to end first: the item is taken up again soon, however often."""


class NotWanted(Outcome):
    """The item has become void, and leaves its run."""


class ItemFailed(Outcome):
    """This item cannot be done. Others can."""


class TryAgain(Outcome):
    """A passing fault: the item can be done later."""


class Away(Outcome):
    """Nobody is there to ask, which is no item's fault: the whole run waits."""


class RunFailed(Outcome):
    """No item of the run can be done before somebody mends what the sentence names."""
