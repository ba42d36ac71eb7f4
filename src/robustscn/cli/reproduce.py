"""`robustscn reproduce`: what it takes; `reproducing` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .messages import plain_errors

GROUPS = (
    *("rsc-kde", "choice", "layers", "literal", "ours"),
    *("rounds", "curves", "ablation", "treasury"),
)
BASIC = ("rsc-kde", "choice", "layers", "literal", "ours")
KEEL = ("stock", "laser", "concrete", "treasury")
ALL = ("function", *KEEL, "grinding")
WHAT: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "headline": (("function", *KEEL), ("rsc-kde", "literal")),
    "table1": (("function",), (*BASIC, "ablation")),
    "table2": (KEEL, ("rsc-kde",)),
    "table3": (KEEL, BASIC),
    "treasury": (("treasury",), ("treasury",)),
    "table4": (("grinding",), BASIC),
    "table5": (("grinding",), ("rounds",)),
    "figure1": (("function",), ("curves",)),
    "figure2": (("function",), BASIC),
    "figure3": (KEEL, BASIC),
    "figure4": ((), ()),
    "figure5": (("grinding",), BASIC),
    "figure6": (("grinding",), ("curves",)),
    "all": (ALL, GROUPS),
    "page": (ALL, GROUPS),
}
"""Tasks and groups of methods that each name needs."""


def reproduce(
    what: Annotated[
        list[str] | None, typer.Argument(help=f"Any of: {', '.join(WHAT)}.", show_default="all")
    ] = None,
    trials: Annotated[
        int | None, typer.Option(min=1, help="Trials of each cell. [default: the paper's]")
    ] = None,
    levels: Annotated[
        str | None, typer.Option(help="Outlier percentages, such as 10,25. [default: the paper's]")
    ] = None,
    protocol: Annotated[
        str | None, typer.Option(help="add or replace. [default: what the page shows]")
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="redrawn or fixed. [default: what the page shows]")
    ] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes. [default: all cores]")] = None,
    out: Annotated[Path, typer.Option(help="Folder for results and page.")] = Path("reproduction"),
    quick_: Annotated[
        bool, typer.Option("--quick", help="Every table at 2 trials, in less than five minutes.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,
) -> None:
    """Run the experiments of the RSC-KDE paper and write them beside its own figures.

    Results are kept in OUT/cells, one small file for each cell: interrupt it and run it again,
    and it goes on where it was. `page` only writes the page from what is there.

    For example:

        robustscn reproduce --quick

        robustscn reproduce table1 --protocol replace --trials 20

        robustscn reproduce all --jobs 2
    """
    with plain_errors(debug):
        from .reproducing import Asked, run

        run(Asked(what or ["all"], trials, levels, protocol, data, quick_), jobs, out)
