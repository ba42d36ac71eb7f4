"""What a fit on Dask costs: passes, tasks, and what the cluster keeps; the page that says so."""

import platform
import resource
import runpy
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")

from robustscn.dask import DaskRobustSCNRegressor, DaskSCNRegressor  # noqa: E402
from robustscn.dask import rows as chunked  # noqa: E402
from robustscn.dask.chunks import KEPT_BYTES, keep_small_arrays  # noqa: E402
from robustscn.dask.loading import loaded  # noqa: E402
from robustscn.dask.placing import moves  # noqa: E402
from test_dask import ROBUST, SMALL, drawn, in_chunks  # noqa: E402

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.cluster

LENGTHS = (100,) * 10


class AtEachBlock:
    """A callback that notes something whenever a block of nodes is complete."""

    def __init__(self, look):
        self.look, self.seen = look, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "nodes":
            self.seen.append(self.look())


@pytest.fixture(scope="module")
def blocks(client):
    """What a fit has cost after each block of nodes: passes, tasks, tasks remembered."""
    pytest.importorskip("sklearn.callback")
    model = DaskSCNRegressor(**SMALL | {"max_nodes": 20, "tol": 0.0}, client=client)
    submitted, tasks, remembered = Counter(), chunked.tasks, client.cluster.scheduler.tasks
    others = set(remembered)  # what earlier tests left may be forgotten at any time

    def counted(client, what, fn, *arguments):
        submitted[what] += len(arguments[0])
        return tasks(client, what, fn, *arguments)

    def fewest():
        """Return the fewest tasks in half a second: those no longer needed go a little later."""
        counts, until = [], time.monotonic() + 0.5
        while time.monotonic() < until:
            counts.append(len(remembered.keys() - others))
            time.sleep(0.01)
        return min(counts)

    looks = AtEachBlock(lambda: (Counter(model._passes), submitted.copy(), fewest()))
    X, y, _ = drawn(sum(LENGTHS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunked, "tasks", counted)
        model.set_callbacks(looks).fit(in_chunks(X, LENGTHS), in_chunks(y, LENGTHS))
    assert len(looks.seen) >= 5
    return looks.seen


def test_every_block_of_nodes_costs_the_same_passes_and_tasks(blocks):
    found = set()
    for (before, less, _), (after, more, _) in pairwise(blocks):
        passes, tasks = after - before, more - less
        # Where a block has fewer nodes than asked for, several come before the next look. A block
        # is orthogonalised again only where digits were lost.
        n_blocks, again = passes["project"], passes["normalise"]
        assert again <= n_blocks
        found.add((passes.total() - again) / n_blocks)
        # One for each chunk and pass, besides: sums taken out of passes that make columns too,
        # columns put in a stack.
        alone = tasks.total() - tasks["merge"]
        assert alone == (passes.total() + n_blocks + again + n_blocks) * len(LENGTHS)
    assert found == {6}


def test_of_a_block_the_scheduler_remembers_four_small_tasks_for_each_chunk(blocks):
    for (before, _, less), (after, _, more) in pairwise(blocks):
        passes = after - before
        assert more - less == (3 * passes["project"] + passes["normalise"]) * len(LENGTHS)


def test_no_node_and_no_round_of_the_flagship_costs_a_pass(client, many_rows):
    X, y, _ = drawn(many_rows)
    columns = [in_chunks(array, (300, many_rows - 300)) for array in (X, y)]
    found = []
    for more in ({}, {"max_nodes": 9, "n_rounds": 5}):
        model = DaskRobustSCNRegressor(**ROBUST | more, client=client).fit(*columns)
        # How often a scale is measured before it settles depends on the residuals.
        settling = {"length", "kept", "rows"}
        passes = Counter(name for name in model._passes if name not in settling)
        # So does whether the scale follows the noise: one forecast of it, divided by thereafter.
        passes -= Counter(
            {"mean": passes["at"], **dict.fromkeys(("at", "quotient"), passes.total())}
        )
        found.append(passes)
    assert found[0] == found[1]


def test_the_cluster_keeps_nothing_when_the_model_is_gone(client, many_rows):
    # scikit-learn remembers the callbacks of other tests, and so their models and rows.
    tasks, before = client.cluster.scheduler.tasks, set(client.cluster.scheduler.tasks)
    X, y, _ = drawn(many_rows, seed=1)
    model = DaskRobustSCNRegressor(**ROBUST | {"max_nodes": 3, "n_rounds": 2}, client=client)
    model.fit(*(in_chunks(array, (300, many_rows - 300)) for array in (X, y)))
    assert set(tasks) - before
    del model
    deadline = time.monotonic() + 30
    while (held := set(tasks) - before) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not held


@pytest.mark.parametrize("seed", range(20))
def test_moves_leave_nobody_with_much_more_than_a_fair_share(seed):
    rng = np.random.default_rng(seed)
    threads = {"a": 1, "b": int(rng.integers(1, 4)), "c": 1}
    lengths = rng.integers(0, 100, size=60)
    homes = rng.choice(list(threads), size=60, p=(0.7, 0.2, 0.1)).tolist()
    place = homes.copy()
    for chunk, to in moves(lengths, homes, threads).items():
        assert to != homes[chunk]
        place[chunk] = to
    for worker, n in threads.items():
        rows = sum(length for length, at in zip(lengths, place, strict=True) if at == worker)
        assert rows / n <= 1.1 * lengths.sum() / sum(threads.values())


def test_what_cannot_be_more_even_stays():
    assert moves([100, 100, 100, 300], list("aaab"), {"a": 1, "b": 1}) == {}
    assert moves([100, 100], list("aa"), {"a": 2, "b": 1}) == {}
    assert moves([500], ["a"], {"a": 1, "b": 1}) == {}


def test_a_fit_reads_rows_that_lie_evenly(client):
    X, y, _ = drawn(800)
    one = next(iter(client.nthreads()))
    columns = [
        client.persist(in_chunks(array, (100,) * 8), workers=[one], allow_other_workers=True)
        for array in (X, y)
    ]
    distributed.wait(columns)
    rows = loaded(client, *columns)
    for column in (rows.X, rows.y):
        distributed.wait(list(column.parts))
        homes = [homes[0] for homes in client.who_has(list(column.parts)).values()]
        assert sorted(Counter(homes).values()) == [4, 4]
        np.testing.assert_array_equal(
            np.concatenate(client.gather(list(column.parts))), X if column is rows.X else y
        )


def faults_of_small_arrays():
    keep_small_arrays()
    np.ones(KEPT_BYTES // 16)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(50):
        np.ones(KEPT_BYTES // 16)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the GNU allocator's")
def test_workers_do_not_ask_the_system_for_every_small_array(client):
    pages = KEPT_BYTES // 2 // resource.getpagesize()
    for faults in client.run(faults_of_small_arrays).values():
        assert faults < 5 * pages  # asked for anew, they would be fifty times as many


def test_the_page_has_the_numbers_of_the_committed_results():
    measured = runpy.run_path(str(ROOT / "benchmarks" / "dask_model.py"))["measured"]
    page = (ROOT / "docs" / "dask.md").read_text()
    assert measured(page) == page
