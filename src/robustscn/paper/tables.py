"""The paper's tables beside ours, none wider than a screen: paper, then ours with its ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .blocks import Table
from .cells import NEEDED, NONE, deviations, mean_of, number, with_ratio, without_ratio
from .counts import span, trials
from .headline import headline
from .published import Printed, table_2, table_5, tables
from .results import Results, Summary
from .settings import (
    ABLATION_LEVELS,
    FUNCTION,
    GRINDING,
    KEEL,
    ROUND_LEVELS,
    ROUND_SIZES,
    ROUNDS,
    TABLE_LEVELS,
    TREASURY_LEVELS,
    Experiment,
    Task,
    ablations,
    treasury_tries,
)
from .units import BASELINES, HONEST, ON_TEST

PRINTED_SCOPES = {"function": (1.0, 30.0, 50.0, 150.0), "grinding": (0.1, 0.5, 1.0, 5.0)}
LABELS = {
    "PRNNRW": "PRNNRW (rho 10)",
    "PRNNRW, tuned": "PRNNRW (rho chosen)",
    "RSC-KDE": "RSC-KDE, our settings",
    ON_TEST: f"RSC-KDE, literal, chosen on the test rows: {NEEDED}",
    "RobustSCN": "RobustSCN, no clean rows",
    "oracle": "oracle: RSC-KDE, wrong rows removed",
}
BESIDE = ("RSC-KDE", HONEST, ON_TEST, "RobustSCN", "oracle")

Find = Callable[[float], Summary | None]
Print = Callable[[float], Printed | None]
Cell = Callable[[Summary | None, Printed | None], list[str]]


def _columns(levels: Sequence[float]) -> list[str]:
    return [f"{level:.0%} {what}" for level in levels for what in ("paper", "ours")]


def _known(results: Results, experiment: Experiment) -> list[float]:
    known = list(results.levels(experiment.name, "rsc-kde"))
    # Other shares are for the figures, unless nothing else was asked for.
    return [level for level in known if level in TABLE_LEVELS] or known


def _block(
    results: Results, experiment: Experiment, levels: Sequence[float], cell: Cell
) -> list[list[str]]:
    """Return the rows of one task: first column empty or the scope, then the method."""
    task, name = experiment.task, experiment.name
    scopes: Sequence[float | None] = PRINTED_SCOPES.get(task.name, (None,))
    rows = []

    def add(label: str, method: str, printed: Print, ours: Find) -> None:
        found = [(ours(level), printed(level)) for level in levels]
        if any(here for here, _ in found):
            cells = [text for pair in found for text in cell(*pair)]
            rows.append([label, LABELS.get(method, method), *cells])

    for scope in scopes:
        for method in BASELINES:

            def ours(level: float, m: str = method, s: float | None = scope) -> Summary | None:
                if s is None:
                    best = results.lowest(name, level, m)
                else:
                    best = results.favourite(name, level, m, s)
                return results.cell(name, level, best) if best else None

            def paper(level: float, m: str = method, s: float | None = scope) -> Printed | None:
                return tables().get((task.name, s, m, level))

            add("" if scope is None else f"{scope:g}", method, paper, ours)
    for method in BESIDE:
        # The printed errors stand beside each reading of the method that they are printed for.
        as_printed = "RSC-KDE" if method in (HONEST, ON_TEST) else method
        add(
            "",
            method,
            lambda level, m=as_printed: tables().get((task.name, scopes[0], m, level)),  # type: ignore[misc]
            lambda level, m=method: results.error(name, level, m),  # type: ignore[misc]
        )
    return rows


def _to_oracle(
    results: Results, experiment: Experiment, levels: Sequence[float]
) -> list[list[str]]:
    """Return how many times the oracle's error the two robust methods have."""
    rows = []
    for method in ("RSC-KDE", "RobustSCN"):
        cells = []
        for level in levels:
            pair = results.shared(experiment.name, level, method, "oracle")
            cells += [NONE, f"{pair[0] / pair[1]:.2f}" if pair else NONE]
        if any(cell != NONE for cell in cells):
            rows.append(["", f"{method} divided by the oracle: means of the same trials", *cells])
    return rows


def by_scope(
    results: Results, experiment: Experiment, title: str, cell: Cell = with_ratio
) -> Table | None:
    """Return Table 1 or 4: the baselines at each scope, at their best size by test error."""
    levels = _known(results, experiment)
    if not levels:
        return None
    if experiment.task == GRINDING and cell is with_ratio:
        cell = without_ratio
    rows = _block(results, experiment, levels, cell)
    if cell is not deviations:
        rows += _to_oracle(results, experiment, levels)
    return Table(title, ["scope", "method", *_columns(levels)], rows)


def by_set(
    results: Results, protocol: str, data: str, title: str, cell: Cell = with_ratio
) -> Table | None:
    """Return Table 3: each method's best cell of the whole grid by test error."""
    rows = []
    known = [_known(results, Experiment(task, protocol, data)) for task in KEEL]
    levels = sorted({level for here in known for level in here})
    for task, here in zip(KEEL, known, strict=True):
        if here:
            experiment = Experiment(task, protocol, data)
            block = _block(results, experiment, levels, cell)
            if cell is not deviations:
                block += _to_oracle(results, experiment, levels)
            rows += [[task.name if k == 0 else "", *row[1:]] for k, row in enumerate(block)]
    return Table(title, ["set", "method", *_columns(levels)], rows) if rows else None


def by_cross_validation(results: Results, experiment: Experiment) -> Table | None:
    """Return the baselines at the cell that cross-validation on the dirty rows chose."""
    levels = _known(results, experiment)
    rows = []
    for method in BASELINES:
        cells = []
        for level in levels:
            chosen = results.honest(experiment.name, level, method)
            error = results.cell(experiment.name, level, chosen) if chosen else None
            cells += [f"{chosen[1]:g}, L={chosen[2]}" if chosen else NONE, mean_of(error)]
        rows.append([LABELS.get(method, method), *cells])
    columns = [f"{level:.0%} {what}" for level in levels for what in ("cell", "ours")]
    simulated = ", SIMULATED" if experiment.task == GRINDING else ""
    title = f"{experiment.task.name}{simulated}: cells that cross-validation on dirty rows chooses"
    return Table(title, ["method", *columns], rows) if levels else None


def sizes(results: Results) -> Table | None:
    """Return Table 2, from the rows that were run."""
    rows = []
    for task in KEEL:
        name = Experiment(task).name
        for level in results.levels(name, "rsc-kde"):
            found = results.group(name, level, "rsc-kde")
            if found and "rows" in found:
                instances, features = table_2()[task.name]
                parts = " + ".join(str(count) for count in found["rows"])
                here = [str(sum(found["rows"])), parts]
                inputs = [str(features), str(found["n_inputs"])]
                rows.append([task.name, str(instances), *here, *inputs])
                break
    title = "Table 2, KEEL sets: rows and inputs"
    names = ["rows, paper", "rows, ours", "train + validate + test", "inputs, paper", "ours"]
    return Table(title, ["set", *names], rows) if rows else None


def rounds_and_nodes(results: Results, level: float) -> Table | None:
    """Return one outlier share of Table 5."""
    name = Experiment(GRINDING).name
    if results.group(name, level, "rounds") is None:
        return None
    columns = [f"L={n} {what}" for n in ROUND_SIZES for what in ("paper", "ours")]
    rows = []
    for rounds in ROUNDS:
        cells = []
        for size in ROUND_SIZES:
            ours = results.error(name, level, f"{rounds} | {size}")
            cells += [
                mean_of(table_5()[level, rounds, size]),
                number(ours.mean) if ours else NONE,
            ]
        rows.append([str(rounds), *cells])
    return Table(
        f"Table 5 at {level:.0%} outliers, the paper's plant beside our SIMULATED circuit: rounds "
        "and nodes of RSC-KDE",
        ["rounds", *columns],
        rows,
    )


def _three(found: Summary) -> str:
    return f"{number(found.mean)} ± {number(found.std)}, {number(found.median)}"


def open_choices(results: Results) -> Table | None:
    """Return RSC-KDE on the function with one open choice changed at a time."""
    name = Experiment(FUNCTION).name
    levels = [level for level in ABLATION_LEVELS if results.group(name, level, "ablation")]
    rows = []
    for choice in ablations():
        found = [results.error(name, level, choice) for level in levels]
        rows.append([choice, *(_three(error) if error else NONE for error in found)])
    return (
        Table(
            "RSC-KDE on the function, one open choice changed at a time: mean ± deviation, median",
            ["choice", *(f"{level:.0%}" for level in levels)],
            rows if levels else [],
        )
        if levels
        else None
    )


def treasury(results: Results) -> Table | None:
    """Return what was tried to get the errors printed for treasury."""
    cases = [
        (level, data)
        for level in TREASURY_LEVELS
        for data in ("redrawn", "fixed")
        if results.group(Experiment(KEEL[3], data=data).name, level, "treasury")
    ]
    if not cases:
        return None
    rows = []
    for name in treasury_tries():
        cells = []
        for level, data in cases:
            found = results.error(Experiment(KEEL[3], data=data).name, level, name)
            cells.append(number(found.mean) if found else NONE)
        label = f"{name}: {NEEDED}" if name.startswith("chosen on the test rows") else name
        rows.append([label, *cells])
    printed = [number(tables()["treasury", None, "RSC-KDE", level].mean) for level, _ in cases]
    rows.append(["the paper", *printed])
    splits = {"redrawn": "redrawn splits", "fixed": "the nearest split"}
    parts = [
        results.group(Experiment(KEEL[3], data=data).name, lv, "treasury") for lv, data in cases
    ]
    counts = [part["trials"] for part in parts if part]
    return Table(
        f"Treasury: mean error of RSC-KDE over the first {span(counts)} trials, literal settings "
        "unless said",
        ["what was tried", *(f"{level:.0%}, {splits[data]}" for level, data in cases)],
        rows,
    )


def all_tables(results: Results) -> dict[str, list[Table]]:
    """Return all tables by the number they have in the paper, and those of the appendices."""
    tasks: tuple[Task, ...] = (FUNCTION, *KEEL, GRINDING)
    beside = [("add", "fixed"), ("replace", "redrawn"), ("replace", "fixed")]

    def of(protocol: str, data: str, cell: Cell = with_ratio) -> list[Table | None]:
        words = f"protocol {protocol}, {data} data" + (
            ", standard deviations" if cell is deviations else ""
        )
        where = Experiment(FUNCTION, protocol, data), Experiment(GRINDING, protocol, data)
        return [
            by_scope(results, where[0], f"Table 1, function, {words}", cell),
            by_set(results, protocol, data, f"Table 3, KEEL sets, {words}", cell),
            by_scope(results, where[1], f"Table 4, SIMULATED grinding circuit, {words}", cell),
        ]

    main = of("add", "redrawn")
    found: dict[str, list[Table | None]] = {
        "headline": [headline(results)],
        "trials": [trials(results)],
        "table1": main[:1],
        "table2": [sizes(results)],
        "table3": main[1:2],
        "table4": main[2:],
        "table5": [rounds_and_nodes(results, level) for level in ROUND_LEVELS],
        "treasury": [treasury(results)],
        "fixed": of(*beside[0]),
        "cross-validation": [by_cross_validation(results, Experiment(task)) for task in tasks],
        "choices": [open_choices(results)],
        "replace": [table for case in beside[1:] for table in of(*case)],
        "deviations": of("add", "redrawn", deviations) + of("add", "fixed", deviations),
    }
    return {name: [t for t in parts if t is not None] for name, parts in found.items()}
