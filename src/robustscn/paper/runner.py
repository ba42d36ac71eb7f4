"""Run what is not done yet, on several cores, and keep each unit's result as it comes in.

The baselines go in three steps, each needing the one before: cross-validation on the dirty rows
chooses PRNNRW's prior and the honest cell; some trials run the whole grid; the others run only
the cells that are shown, the best of each scope by test error, as the paper picks them, and the
honest one.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait as wait_for

import numpy as np

from .settings import (
    ABLATION_LEVELS,
    BESIDE_TRIALS,
    CURVES,
    FEWER_TRIALS,
    FUNCTION,
    GRINDING,
    PILOT_TRIALS,
    ROUND_LEVELS,
    TABLE_LEVELS,
    TEXT_LEVEL,
    TREASURY_LEVELS,
    Experiment,
)
from .store import Store
from .units import BASELINES, SECONDS, Cell, Unit, cell_name, cell_of, run

UNIT_SECONDS = 10.0
"""Size of a unit: what an interruption may lose."""


@dataclass(frozen=True)
class Plan:
    """What to run.

    Parameters
    ----------
    experiments : tuple of Experiment
        In order of importance.
    groups : tuple of str
        Which methods.
    trials : int or None
        For every task; None for the paper's number.
    """

    experiments: tuple[Experiment, ...]
    groups: tuple[str, ...]
    trials: int | None = None

    def n_trials(self, experiment: Experiment, level: float, group: str) -> int:
        """Return how many trials a group runs."""
        count = self.trials or experiment.task.trials
        if group in ("choice", "curves"):
            return 1
        beside = [experiment.protocol, experiment.data]
        if level not in TABLE_LEVELS and group != "rounds" and not _in_text(experiment, level):
            beside.append("figure")
        limits = [BESIDE_TRIALS[each] for each in beside if each in BESIDE_TRIALS]
        return min(count, FEWER_TRIALS.get(group, count), *limits)

    def parts(self) -> Iterator[tuple[Experiment, float, str]]:
        """Yield all experiments, outlier shares and groups, what tables need most first."""
        found = [
            (experiment, level, group)
            for experiment in self.experiments
            for group in self.groups
            for level in _levels(experiment, group)
            if _wanted(experiment, level, group)
        ]

        def lateness(part: tuple[Experiment, float, str]) -> tuple[bool, bool]:
            experiment, _, group = part
            beside = (experiment.protocol, experiment.data) != ("add", "redrawn")
            return beside, group in ("ablation", "treasury")

        yield from sorted(found, key=lateness)


def _levels(experiment: Experiment, group: str) -> Sequence[float]:
    """Return where a group is run: the choice where it serves a share that was asked for."""
    if group != "choice":
        return sorted(set(experiment.levels))
    return sorted({nearest_choice(experiment, level) for level in experiment.levels})


def _in_text(experiment: Experiment, level: float) -> bool:
    """Return whether the paper's text has the function's error at this share."""
    return experiment.name == Experiment(FUNCTION).name and level == TEXT_LEVEL


def _wanted(experiment: Experiment, level: float, group: str) -> bool:
    redrawn, add = experiment.data == "redrawn", experiment.protocol == "add"
    name, compared = experiment.name, level in experiment.compared_at
    simulated = experiment.task.name == GRINDING.name
    return {
        "literal": add
        and not simulated
        and (redrawn or not experiment.task.steep)
        and (compared or _in_text(experiment, level)),
        "ours": redrawn and compared,
        "rounds": name == Experiment(GRINDING).name and level in ROUND_LEVELS,
        "ablation": name == Experiment(FUNCTION).name and level in ABLATION_LEVELS,
        "treasury": add and experiment.task.name == "treasury" and level in TREASURY_LEVELS,
        "curves": (name, level) in CURVES,
    }.get(group, True)


def nearest_choice(experiment: Experiment, level: float) -> float:
    """Return the outlier share whose cross-validation serves this one."""
    return min(experiment.tuned_at, key=lambda other: abs(other - level))


def chosen_rho(store: Store, experiment: Experiment, level: float) -> float:
    """Return the prior of PRNNRW that cross-validation chose."""
    done = store.trials(experiment, nearest_choice(experiment, level), "choice")
    return float(done[0]["rho"])


def honest_cell(store: Store, experiment: Experiment, level: float, method: str) -> Cell:
    """Return the cell that cross-validation on the dirty rows chose for a method."""
    losses = store.trials(experiment, nearest_choice(experiment, level), "choice")[0]["loss"]
    cells = [name for name in losses if cell_of(name)[0] == method]
    return cell_of(min(cells, key=losses.__getitem__))


def favourite_cells(
    store: Store, experiment: Experiment, level: float, method: str
) -> dict[float, Cell]:
    """Return for each scope the cell with the lowest mean test error of the pilot trials."""
    done = store.trials(experiment, level, "layers")
    pilot = [done[number]["rmse"] for number in range(PILOT_TRIALS) if number in done]
    best: dict[float, tuple[float, Cell]] = {}
    for name in pilot[0]:
        cell = cell_of(name)
        if cell[0] == method:
            error = float(np.mean([errors[name] for errors in pilot]))
            best[cell[1]] = min(best.get(cell[1], (np.inf, cell)), (error, cell))
    return {scope: cell for scope, (_, cell) in best.items()}


def shown_cells(store: Store, experiment: Experiment, level: float) -> tuple[Cell, ...]:
    """Return the cells that tables and figures show."""
    task, cells = experiment.task, set[Cell]()
    for method in BASELINES:
        best = favourite_cells(store, experiment, level, method)
        shown = task.figure_scopes if len(task.figure_scopes) > 1 else ()
        cells |= {best[scope] for scope in shown}
        cells |= {(method, scope, task.figure_size) for scope in task.figure_scopes}
        cells.add(lowest_cell(store, experiment, level, best.values()))
        cells.add(honest_cell(store, experiment, level, method))
    return tuple(sorted(cells))


def lowest_cell(store: Store, experiment: Experiment, level: float, cells: Iterable[Cell]) -> Cell:
    """Return the cell with the lowest mean test error of the pilot trials."""
    done = store.trials(experiment, level, "layers")
    pilot = [done[number]["rmse"] for number in range(PILOT_TRIALS) if number in done]
    return min(cells, key=lambda cell: np.mean([errors[cell_name(cell)] for errors in pilot]))


def ready_units(
    plan: Plan, store: Store, experiment: Experiment, level: float, group: str
) -> list[Unit]:
    """Return what of a part is not done and can be: the baselines wait for their choice."""
    done = store.trials(experiment, level, group)
    wanted = [t for t in range(plan.n_trials(experiment, level, group)) if t not in done]
    if group != "layers":
        return _units(Unit(experiment, level, group, ()), wanted)
    if 0 not in store.trials(experiment, nearest_choice(experiment, level), "choice"):
        return []
    rho = chosen_rho(store, experiment, level)
    first = [t for t in wanted if t < PILOT_TRIALS]
    if first:
        return _units(Unit(experiment, level, group, (), rho), first)
    if not wanted:
        return []
    cells = shown_cells(store, experiment, level)
    return _units(Unit(experiment, level, group, (), rho, cells), wanted)


def _units(like: Unit, trials: Sequence[int]) -> list[Unit]:
    seconds = SECONDS[like.group] * (0.25 if like.cells else 1.0)
    size = max(1, round(UNIT_SECONDS / seconds))
    return [
        Unit(
            like.experiment,
            like.level,
            like.group,
            tuple(trials[start : start + size]),
            like.rho,
            like.cells,
        )
        for start in range(0, len(trials), size)
    ]


def cost(plan: Plan, store: Store) -> tuple[float, float]:
    """Return roughly how many seconds of work are done, and how many there are."""
    done = 0.0
    for part in plan.parts():
        have = store.trials(*part)
        done += sum(s for t, s in enumerate(_seconds(plan, *part)) if t in have)
    return done, whole_cost(plan)


def whole_cost(plan: Plan) -> float:
    """Return roughly how many seconds of work there are where nothing is done."""
    return sum(sum(_seconds(plan, *part)) for part in plan.parts())


def _seconds(plan: Plan, experiment: Experiment, level: float, group: str) -> list[float]:
    """Return roughly how many seconds each trial of a part takes."""
    return [
        SECONDS[group] * (0.25 if group == "layers" and t >= PILOT_TRIALS else 1.0)
        for t in range(plan.n_trials(experiment, level, group))
    ]


def execute(plan: Plan, store: Store, jobs: int, tell: Callable[[float, float, str], None]) -> None:
    """Run all that is not done.

    Parameters
    ----------
    plan : Plan
        What to run.
    store : Store
        Where results go, and where what is done is found.
    jobs : int
        Processes.
    tell : callable
        Told after each unit: seconds of work done and in all, and what was done.
    """
    waiting = deque(unit for part in plan.parts() for unit in ready_units(plan, store, *part))
    tell(*cost(plan, store), "")
    # One thread for each process: the cores are taken.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    pool = ProcessPoolExecutor(
        jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_end_with_parent
    )
    running: dict[Future[list[dict[str, object]]], Unit] = {}
    try:
        while waiting or running:
            while waiting and len(running) < jobs + 1:
                unit = waiting.popleft()
                with _children_deaf_to_interrupts():
                    running[pool.submit(run, unit)] = unit
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                unit = running.pop(future)
                store.add(unit.experiment, unit.level, unit.group, future.result())
                waiting.extendleft(reversed(_enabled(plan, store, unit, running.values())))
                tell(*cost(plan, store), f"{unit.experiment.name} {unit.level:.0%} {unit.group}")
    finally:
        processes = list((pool._processes or {}).values())  # which shutting down forgets
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


def _end_with_parent() -> None:
    """End this process when the one that gives it work is gone, even killed: nobody else would."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def _children_deaf_to_interrupts() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even while they import: we end them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _enabled(plan: Plan, store: Store, done: Unit, running: Iterable[Unit]) -> list[Unit]:
    """Return the units that could not be run before this one was done."""
    if "layers" not in plan.groups:
        return []
    if done.group == "choice":
        levels = [
            level
            for level in done.experiment.levels
            if nearest_choice(done.experiment, level) == done.level
        ]
    elif done.group == "layers" and done.cells is None:
        levels = [done.level]
    else:
        return []
    found = []
    for level in levels:
        if not any(
            (u.experiment, u.level, u.group) == (done.experiment, level, "layers") for u in running
        ):
            found += ready_units(plan, store, done.experiment, level, "layers")
    return found
