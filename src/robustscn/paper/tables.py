"""The paper's tables beside ours: paper | ours | ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from .blocks import Table
from .published import Printed, table_5, tables
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
    Experiment,
    Task,
    ablations,
)
from .units import BASELINES, Cell

PRINTED_SCOPES = {"function": (1.0, 30.0, 50.0, 150.0), "grinding": (0.1, 0.5, 1.0, 5.0)}
BESIDE = ("RSC-KDE", "RSC-KDE, literal", "RobustSCN", "oracle")
NONE = "-"
LABELS = {
    "PRNNRW": "PRNNRW (rho 10)",
    "PRNNRW, tuned": "PRNNRW (rho chosen)",
    "RSC-KDE": "RSC-KDE (pooled scopes, ridge)",
    "RobustSCN": "RobustSCN, no clean rows",
    "oracle": "oracle: RSC-KDE, wrong rows removed",
}


def number(value: float) -> str:
    """Return an error with three digits that count, four decimals at least."""
    return f"{value:.4f}" if value >= 0.001 else f"{value:.5f}"


def plus_minus(found: Summary | Printed | None) -> str:
    """Return a mean and its deviation; the median too, where a few trials carry the mean."""
    if found is None:
        return NONE
    if found.std is None:
        return number(found.mean)
    spread = number(found.std) if found.std >= 1e-4 else f"{found.std:.0e}"
    text = f"{number(found.mean)} ± {spread}"
    if isinstance(found, Summary) and found.std > found.mean:
        text += f", median {number(found.median)}"
    return text


def ratio(ours: Summary | None, printed: Printed | None) -> str:
    """Return ours divided by the paper's."""
    return NONE if ours is None or printed is None else f"{ours.mean / printed.mean:.2f}"


def _columns(levels: Sequence[float]) -> list[str]:
    return [f"{level:.0%} {what}" for level in levels for what in ("paper", "ours", "ratio")]


def _line(
    levels: Sequence[float],
    printed: Callable[[float], Printed | None],
    ours: Callable[[float], Summary | None],
) -> list[str]:
    cells = []
    for level in levels:
        there, here = printed(level), ours(level)
        cells += [plus_minus(there), plus_minus(here), ratio(here, there)]
    return cells


def _known(results: Results, experiment: Experiment) -> list[float]:
    known = list(results.levels(experiment.name, "rsc-kde"))
    # Other shares are for the figures, unless nothing else was asked for.
    return [level for level in known if level in TABLE_LEVELS] or known


def by_scope(results: Results, experiment: Experiment, title: str) -> Table | None:
    """Return Table 1 or 4: the baselines at each scope, at their best size by test error."""
    task, name = experiment.task, experiment.name
    levels = _known(results, experiment)
    if not levels:
        return None
    rows = []
    for scope in PRINTED_SCOPES[task.name]:
        for method in BASELINES:

            def ours(level: float, m: str = method, s: float = scope) -> Summary | None:
                cell = results.favourite(name, level, m, s)
                return results.cell(name, level, cell) if cell else None

            def paper(level: float, m: str = method, s: float = scope) -> Printed | None:
                return tables().get((task.name, s, m, level))

            label = LABELS.get(method, method)
            rows.append([f"{scope:g}", label, *_line(levels, paper, ours)])
    scope = PRINTED_SCOPES[task.name][0]
    rows += _beside(
        results, experiment, levels, lambda m, lv: tables().get((task.name, scope, m, lv))
    )
    rows += _to_oracle(results, experiment, levels)
    rows += _honest(results, experiment, levels)
    return Table(title, ["scope", "method", *_columns(levels)], rows)


def by_set(
    results: Results, tasks: Sequence[Task], protocol: str, data: str, title: str
) -> Table | None:
    """Return Table 3: each method's best cell of the whole grid by test error."""
    rows = []
    levels: list[float] = []
    for task in tasks:
        experiment = Experiment(task, protocol, data)
        here = _known(results, experiment)
        levels = levels or here
        if not here:
            continue
        block = []
        for method in BASELINES:

            def ours(level: float, m: str = method, e: str = experiment.name) -> Summary | None:
                cell = results.lowest(e, level, m)
                return results.cell(e, level, cell) if cell else None

            def paper(level: float, m: str = method, t: str = task.name) -> Printed | None:
                return tables().get((t, None, m, level))

            block.append(["", LABELS.get(method, method), *_line(levels, paper, ours)])
        block += _beside(results, experiment, levels, partial(_of_set, task.name))
        block += _to_oracle(results, experiment, levels)
        block += _honest(results, experiment, levels)
        rows += [[task.name if k == 0 else "", *row[1:]] for k, row in enumerate(block)]
    return Table(title, ["set", "method", *_columns(levels)], rows) if rows else None


def _of_set(task: str, method: str, level: float) -> Printed | None:
    return tables().get((task, None, method, level))


def _beside(
    results: Results,
    experiment: Experiment,
    levels: Sequence[float],
    printed: Callable[[str, float], Printed | None],
) -> list[list[str]]:
    rows = []
    for method in BESIDE:
        found = [results.error(experiment.name, level, method) for level in levels]
        if any(found):
            line = _line(
                levels,
                lambda level, m=method: printed(m, level),  # type: ignore[misc]
                lambda level, m=method: results.error(experiment.name, level, m),  # type: ignore[misc]
            )
            rows.append(["", LABELS.get(method, method), *line])
    return rows


def _honest(results: Results, experiment: Experiment, levels: Sequence[float]) -> list[list[str]]:
    """Return the baselines at the cell that cross-validation on the dirty rows chose."""
    rows = []
    for method in BASELINES:

        def chosen(level: float, m: str = method) -> Cell | None:
            return results.honest(experiment.name, level, m)

        def ours(level: float) -> Summary | None:
            cell = chosen(level)
            return results.cell(experiment.name, level, cell) if cell else None

        cells = []
        for level in levels:
            cell = chosen(level)
            where = f"scope {cell[1]:g}, L={cell[2]}" if cell else NONE
            cells += [where, plus_minus(ours(level)), NONE]
        rows.append(["", f"{LABELS.get(method, method)}, cell by cross-validation", *cells])
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
            cells += [NONE, f"{pair[0] / pair[1]:.2f}" if pair else NONE, NONE]
        if any(cell != NONE for cell in cells):
            rows.append(["", f"{method} divided by RSC-KDE's oracle, same trials", *cells])
    return rows


def rounds_and_nodes(results: Results, level: float) -> Table | None:
    """Return one outlier share of Table 5."""
    name = Experiment(GRINDING).name
    if results.group(name, level, "rounds") is None:
        return None
    columns = [f"L={n} {what}" for n in ROUND_SIZES for what in ("paper", "ours", "ratio")]
    rows = []
    for rounds in ROUNDS:
        cells = []
        for size in ROUND_SIZES:
            printed = table_5()[level, rounds, size]
            ours = results.error(name, level, f"{rounds} | {size}")
            cells += [
                plus_minus(printed),
                number(ours.mean) if ours else NONE,
                ratio(ours, printed),
            ]
        rows.append([f"{level:.0%}", str(rounds), *cells])
    return Table(
        f"Table 5 at {level:.0%} outliers, simulated circuit: rounds and nodes of RSC-KDE",
        ["outliers", "rounds", *columns],
        rows,
    )


def open_choices(results: Results) -> Table | None:
    """Return RSC-KDE on the function with one open choice changed at a time."""
    cases = [(p, level) for p in ("add", "replace") for level in ABLATION_LEVELS]
    names = [Experiment(FUNCTION, p).name for p, _ in cases]
    if not any(
        results.group(name, level, "ablation")
        for name, (_, level) in zip(names, cases, strict=True)
    ):
        return None
    rows = []
    for choice in ablations():
        cells = []
        for name, (_, level) in zip(names, cases, strict=True):
            found = results.group(name, level, "ablation")
            errors = Summary(*found["rmse"][choice]) if found else None
            cells.append(_three(errors) if errors else NONE)
        rows.append([choice, *cells])
    return Table(
        "RSC-KDE on the function, one open choice changed at a time: mean ± deviation, median",
        ["choice", *(f"{p} {level:.0%}" for p, level in cases)],
        rows,
    )


def _three(found: Summary) -> str:
    return f"{number(found.mean)} ± {number(found.std)}, {number(found.median)}"


def best_choices(results: Results) -> str:
    """Return in words which choice of RSC-KDE has the lowest mean error in each case."""
    words = []
    for protocol in ("add", "replace"):
        for level in ABLATION_LEVELS:
            found = results.group(Experiment(FUNCTION, protocol).name, level, "ablation")
            if found:
                means = {choice: Summary(*found["rmse"][choice]).mean for choice in ablations()}
                best = min(means, key=means.__getitem__)
                words.append(
                    f"{protocol} {level:.0%}: {best} ({number(means[best])}; literal "
                    f"{number(means['literal'])})"
                )
    return "Lowest mean in each column: " + "; ".join(words) + "." if words else "Not run."


def all_tables(results: Results) -> dict[str, list[Table]]:
    """Return all tables by the number they have in the paper."""
    variants = [(p, d) for p in ("add", "replace") for d in ("redrawn", "fixed")]
    found: dict[str, list[Table | None]] = {
        "table1": [
            by_scope(
                results,
                Experiment(FUNCTION, protocol, data),
                f"Table 1, function, protocol {protocol}, {data} data",
            )
            for protocol, data in variants
        ],
        "table3": [
            by_set(
                results,
                KEEL,
                protocol,
                data,
                f"Table 3, KEEL sets, protocol {protocol}, {data} data",
            )
            for protocol, data in variants
        ],
        "table4": [
            by_scope(
                results,
                Experiment(GRINDING, protocol, data),
                f"Table 4, SIMULATED grinding circuit, protocol {protocol}, {data} data",
            )
            for protocol, data in variants
        ],
        "table5": [rounds_and_nodes(results, level) for level in ROUND_LEVELS],
        "choices": [open_choices(results)],
    }
    return {name: [t for t in parts if t is not None] for name, parts in found.items()}
