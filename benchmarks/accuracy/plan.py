"""Who meets what, and how often: draws, conditions, and the seeds that keep us honest.

Reporting draws make the page; development draws are for trying changes out. Their seeds have no
number in common, and neither do those of tuning.

Eight sets meet seven conditions and two of the eight hard ones each, the others two conditions and
three hard ones each, in turn, so that every hard condition is met on five sets. All combinations
would take a day.
"""

from __future__ import annotations

from .conditions import CONDITIONS, FUNCTION_ONLY, GROSS, HARD_CONDITIONS, Condition
from .names import CLEANLAB, LEARNERS, ORACLE, OURS, RANKING, UNWEIGHTED

TUNING_SEED = 1999
REPORTING, DEVELOPMENT = range(3000, 4000), range(8000, 9000)
"""Draws below 3000 were looked at while the method was made."""

MANY_DRAWS, FEW_DRAWS, FEWEST_DRAWS = 20, 5, 3
LARGE = 2000
"""Training rows from which draws are few."""
SLOW = (CLEANLAB, "NGBoost, Laplace", "RealMLP", "Relevance pursuit GP")
"""Methods that take tens of seconds for a fit on the larger sets."""

ALL_CONDITIONS_ON = (
    "function",
    "grinding",
    "stock",
    "laser",
    "concrete",
    "treasury",
    "diamonds",
    "flights",
)
FEW_CONDITIONS_ON = (
    "airfoil",
    "wine",
    "bikes",
    "houses",
    "computers",
    "robot arm",
    "power grid",
    "protein",
)


def _in_turn(number: int, *steps: int) -> tuple[Condition, ...]:
    return tuple(HARD_CONDITIONS[(number + step) % len(HARD_CONDITIONS)] for step in steps)


MEETS: dict[str, tuple[Condition, ...]] = {
    **{s: (*CONDITIONS, *_in_turn(i, 0, 3)) for i, s in enumerate(ALL_CONDITIONS_ON)},
    **{
        s: (CONDITIONS[0], CONDITIONS[2], *_in_turn(i, 0, 1, 3))
        for i, s in enumerate(FEW_CONDITIONS_ON)
    },
}
"""Conditions of each set."""


SHAPES = {
    "function": (600, 1),
    "grinding": (300, 3),
    "stock": (712, 9),
    "laser": (744, 4),
    "concrete": (772, 8),
    "treasury": (786, 15),
    "airfoil": (1127, 5),
    "diamonds": (4000, 9),
    "flights": (4000, 9),
    "wine": (2000, 11),
    "bikes": (2000, 12),
    "houses": (2000, 6),
    "computers": (2000, 21),
    "robot arm": (2000, 32),
    "power grid": (2000, 12),
    "protein": (2000, 9),
}
"""Training rows and inputs of each set."""
TREE_FRIENDLY = ("diamonds", "flights", "wine", "bikes", "houses", "computers", "protein")
"""Steps, codes of categories or many rows: tables on which boosted trees are known to be good."""


def conditions_of(method: str, set_name: str) -> tuple[Condition, ...]:
    """Return what a method is put through on a set."""
    all_of_them = MEETS[set_name]
    if method == OURS:
        extra = GROSS if set_name in ALL_CONDITIONS_ON else ()
        return all_of_them + extra + (FUNCTION_ONLY if set_name == "function" else ())
    if method == ORACLE:
        return tuple(c for c in all_of_them if c.law == "add" and c.share > 0)
    if method in (UNWEIGHTED, *LEARNERS):
        return all_of_them[:1]
    return all_of_them[1:] if method == RANKING else all_of_them


def draws_of(method: str, set_name: str) -> int:
    """Return how many draws are planned: fewer where rows are many or a method is slow."""
    if method in SLOW:
        return FEWEST_DRAWS
    return MANY_DRAWS if SHAPES[set_name][0] < LARGE else FEW_DRAWS


def seeds_of(count: int, development: bool) -> list[int]:
    """Return the first seeds of draws for trying out or for the page."""
    chosen = DEVELOPMENT if development else REPORTING
    if count > len(chosen):
        raise ValueError(f"there are {len(chosen)} draws, not {count}")
    return list(chosen[:count])
