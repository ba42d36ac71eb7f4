"""Dask: rows in any chunks on a real cluster give what arrays in memory give, whatever happens."""

import json
import os
import pickle
import signal
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from clusters import cluster
from reference import by_sorting
from robustscn import RobustSCNRegressor, RSCKDERegressor, SCNRegressor
from robustscn.cli import main
from robustscn.core.rows import LocalRows, added, filled, sample
from robustscn.core.statistics import quantile
from robustscn.persistence import load
from small import VALUES

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
sizeof = pytest.importorskip("dask.sizeof").sizeof

from robustscn.dask import (  # noqa: E402
    ClusterError,
    DaskRobustSCNRegressor,
    DaskRows,
    DaskRSCKDERegressor,
    DaskSCNRegressor,
    waiting,
)
from robustscn.dask import rows as chunked  # noqa: E402
from robustscn.dask.chunks import MOST_ROOM, StackChunk, appended, at, empty_stack  # noqa: E402
from robustscn.dask.loading import as_array  # noqa: E402

pytestmark = pytest.mark.cluster

QUICK = {"n_candidates": 20, "scopes": (1.0, 5.0, 20.0), "scope_order": "pooled"}
SMALL = {"max_nodes": 6, "block": 3, "random_state": 0} | QUICK


# ---------------------------------------------------------------- rows

PARTITIONS = pytest.mark.parametrize(
    "lengths", [(40,), (1, 39), (7, 13, 20), (2,) * 20], ids=["1", "2", "3", "20 chunks"]
)


def put(rows, array):
    """Return an array as a column in the chunks of some rows."""
    pieces = np.split(array, np.cumsum(rows.lengths)[:-1])
    parts = rows.each_chunk("put", np.asarray, pieces)
    return chunked.ChunkedColumn(parts, array.shape, array.dtype)


def got(column):
    """Return a column, or a stack, as an array."""
    (client,) = {part.client for part in column.parts}
    made = [at(column.place, chunk) for chunk in client.gather(list(column.parts))]
    return np.concatenate([chunk[slice(0, chunk.shape[0]), ...] for chunk in made], axis=0)


@PARTITIONS
def test_map_joins_the_chunks_in_order(client, lengths):
    x = np.arange(40.0)[:, None] * [1.0, 2.0]
    rows = DaskRows(client, lengths)
    doubled, total = rows.map(lambda block: (2 * block, block.sum(axis=1)), put(rows, x))
    np.testing.assert_array_equal(got(doubled), 2 * x)
    np.testing.assert_array_equal(got(total), x.sum(axis=1))
    assert (doubled.shape, total.shape, doubled.dtype) == ((40, 2), (40,), x.dtype)
    np.testing.assert_array_equal(got(rows.map(lambda block: block + 1, put(rows, x))), x + 1)


@PARTITIONS
def test_reduce_adds_over_all_rows_and_combines_as_told(client, lengths):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(40, 3)), rng.uniform(size=40)
    rows = DaskRows(client, lengths)
    columns = put(rows, x), put(rows, w)
    gram, count = rows.reduce(lambda a, b: (a.T @ (a * b[:, None]), b.sum()), *columns)
    np.testing.assert_allclose(gram, x.T @ np.diag(w) @ x, rtol=1e-13)
    np.testing.assert_allclose(count, w.sum(), rtol=1e-13)
    (largest,) = rows.reduce(
        lambda a: (a.max(),), columns[0], combine=lambda a, b: (np.maximum(a[0], b[0]),)
    )
    assert largest == x.max()
    (joined,) = rows.reduce(
        lambda a: (a,), columns[1], combine=lambda a, b: (np.concatenate([a[0], b[0]]),)
    )
    np.testing.assert_array_equal(joined, w)


def test_sums_do_not_depend_on_which_chunk_is_done_first(client):
    x = np.random.default_rng(1).normal(size=40) * 10.0 ** np.arange(-20, 20)
    rows = DaskRows(client, (2,) * 20)
    column = put(rows, x)

    def slow_first(block, seed):
        time.sleep(0.02 * np.random.default_rng([seed, int(abs(block[0]) * 1e9)]).uniform())
        return (block.sum(),)

    sums = {
        float(rows.reduce(lambda block, seed=seed: slow_first(block, seed), column)[0])
        for seed in range(4)
    }
    assert len(sums) == 1


@PARTITIONS
def test_sweep_gives_what_map_and_reduce_give(client, lengths):
    x = np.random.default_rng(2).normal(size=(40, 2))
    rows = DaskRows(client, lengths)
    column, (total,) = rows.sweep(lambda block: (block**2, (block.sum(axis=0),)), put(rows, x))
    np.testing.assert_array_equal(got(column), x**2)
    np.testing.assert_allclose(total, x.sum(axis=0), rtol=1e-13)


def test_no_block_of_a_chunk_is_larger_than_in_memory(client):
    rows = DaskRows(client, (700, 300))
    sizes = rows.map(
        lambda block: np.full(len(block), len(block)),
        put(rows, np.zeros(1000)),
        width=LocalRows(1).block_bytes // 80,
    )
    assert got(sizes).max() == 10


def test_partial_results_of_different_number_are_refused(client):
    rows = DaskRows(client, (1, 1))
    with pytest.raises(ValueError, match="longer"):
        rows.reduce(lambda x: (x,) * (1 + int(x[0])), put(rows, np.arange(2.0)), combine=added)


def test_a_stack_keeps_every_version_when_an_older_one_branches(client):
    rows = DaskRows(client, (2, 3))
    a, b, c = (np.full((5, 1), value) for value in (1.0, 2.0, 3.0))
    one = rows.stack(put(rows, a), capacity=3).appended(put(rows, a))
    straight, branch = one.appended(put(rows, b)), one.appended(put(rows, c))
    branch_on = branch.appended(put(rows, b))
    np.testing.assert_array_equal(got(one), a)
    np.testing.assert_array_equal(got(straight), np.hstack([a, b]))
    np.testing.assert_array_equal(got(branch), np.hstack([a, c]))
    np.testing.assert_array_equal(got(branch_on), np.hstack([a, c, b]))
    np.testing.assert_array_equal(got(straight.appended(put(rows, c))), np.hstack([a, b, c]))


def test_a_stack_is_read_as_one_array(client):
    columns = np.random.default_rng(3).normal(size=(5, 2 * MOST_ROOM + 6))
    rows = DaskRows(client, (2, 3))
    stack = rows.stack(put(rows, columns), capacity=columns.shape[1])
    assert got(stack).shape == (5, 0)
    for k in range(columns.shape[1]):
        stack = stack.appended(put(rows, columns[:, [k]]))
    (gram,) = rows.reduce(lambda p: (p.T @ p,), stack, width=70)
    np.testing.assert_allclose(gram, columns.T @ columns, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(got(rows.map(lambda p: p[:, ::7] + 0, stack)), columns[:, ::7])


def test_only_the_columns_of_its_version_travel_with_a_chunk_of_a_stack():
    columns = np.random.default_rng(6).normal(size=(1_000, 3))
    none = empty_stack(50, (), columns)
    one, three = appended((), none, columns[:, :1]), appended((), none, columns)
    sizes = [sizeof(stack) for stack in (none, one, three)]
    np.testing.assert_allclose(sizes, [0, 8_000, 24_000], atol=100)
    assert len(pickle.dumps(one)) < 9_000
    moved = pickle.loads(pickle.dumps(one))
    longer = appended((), moved, columns[:, 1:])
    for stack, width in ((moved, 1), (longer, 3), (three, 3)):
        assert isinstance(stack, StackChunk)
        np.testing.assert_array_equal(stack[0:1_000, ...], columns[:, :width])


def test_filled_takes_the_dtype_of_its_reference(client):
    rows = DaskRows(client, (2, 4))
    column = filled(rows, 2.5, put(rows, np.zeros((6, 3), dtype=np.float32)))
    assert column.dtype == np.float32
    np.testing.assert_array_equal(got(column), np.full(6, 2.5, dtype=np.float32))


@pytest.mark.parametrize("sorted_rows", [3, 2**15])
@pytest.mark.parametrize("name", VALUES)
def test_quantile_equals_sorting(client, name, sorted_rows, monkeypatch):
    monkeypatch.setattr("robustscn.core.statistics.SORTED_ROWS", sorted_rows)
    rng = np.random.default_rng(4)
    values = VALUES[name](rng)
    weight = rng.integers(0, 4, size=50).astype(float)
    rows = DaskRows(client, (1, 30, 19))
    for share in (0.1, 0.5, 0.95):
        found = quantile(rows, put(rows, values), put(rows, weight), share)
        assert found == by_sorting(values, weight, share)


def test_rows_are_numbered_and_sampled_as_a_whole(client):
    x = np.random.default_rng(5).normal(size=(40, 2))
    rows = DaskRows(client, (7, 13, 20))
    column = put(rows, x)
    np.testing.assert_array_equal(got(rows.positions(column)), np.arange(40))
    np.testing.assert_array_equal(sample(rows, 0.3, column)[0], sample(LocalRows(40), 0.3, x)[0])
    numbers = np.array([39, 0, 8, 8, 6, 21])
    few, (taken, again) = rows.some(numbers, column, rows.positions(column))
    np.testing.assert_array_equal(taken, x[numbers])
    np.testing.assert_array_equal(again, numbers)
    assert few.n_rows == 6


def test_the_dashboard_shows_named_tasks(client):
    rows = DaskRows(client, (20, 20))

    def squares(x):
        return x * x

    column = rows.map(squares, put(rows, np.arange(40.0)))
    assert {distributed.utils.key_split(part.key) for part in column.parts} == {"robustscn-squares"}


# ---------------------------------------------------------------- the same answer


def drawn(n_rows, n_outputs=1, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_rows, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.05 * rng.normal(size=n_rows)
    y[::10] += rng.normal(size=len(y[::10]), scale=3.0)
    if n_outputs == 2:
        y = np.stack([y, np.cos(3 * X[:, 1])], axis=1)
    return X.astype(dtype), y.astype(dtype), rng.integers(0, 3, size=n_rows).astype(dtype)


def in_chunks(array, lengths):
    return da.from_array(array, chunks=(lengths, *array.shape[1:]))


def nodes_of(model):
    networks = getattr(model, "_networks", None) or (model._network,)
    return [network.layers[0].weights for network in networks]


def assert_same(here, there, X, X_in_chunks):
    for mine, other in zip(nodes_of(there), nodes_of(here), strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_allclose(
        there.predict(X_in_chunks).compute(), here.predict(X), rtol=1e-8, atol=1e-8
    )
    assert there.stop_reason_ == here.stop_reason_


@pytest.mark.parametrize(
    ("lengths", "n_outputs"), [((600,), 2), ((50, 0, 449, 1, 100), 2), ((60,) * 10, 1)]
)
def test_an_scn_has_the_nodes_it_has_in_memory(client, lengths, n_outputs):
    X, y, weight = drawn(600, n_outputs)
    here = SCNRegressor(**SMALL).fit(X, y, weight)
    there = DaskSCNRegressor(**SMALL, client=client)
    there.fit(*(in_chunks(array, lengths) for array in (X, y, weight)))
    assert_same(here, there, X, in_chunks(X, lengths))
    assert there.predict(in_chunks(X, lengths)).chunks[0] == lengths
    np.testing.assert_allclose(
        there.score(*(in_chunks(array, lengths) for array in (X, y, weight))),
        here.score(X, y, weight),
        rtol=1e-10,
    )


def test_chunks_lie_in_memory_as_arrays_in_memory_do(client):
    X, _, _ = drawn(300)
    turned = in_chunks(X, (100, 200)).map_blocks(np.asfortranarray)
    for collection in (turned, dd.from_pandas(pd.DataFrame(X), npartitions=2)):
        chunks = client.compute(list(as_array(collection, "X").to_delayed()[:, 0]), sync=True)
        assert len(chunks) == 2
        assert all(chunk.flags.c_contiguous for chunk in chunks)


@pytest.mark.parametrize("algorithm", ["SC-I", "SC-II"])
def test_other_ways_of_solving_do_as_in_memory(client, algorithm):
    X, y, _ = drawn(300)
    settings = SMALL | {"block": 1, "max_nodes": 5, "algorithm": algorithm, "window": 3}
    here = SCNRegressor(**settings).fit(X, y)
    there = DaskSCNRegressor(**settings, client=client).fit(
        *(in_chunks(a, (100, 200)) for a in (X, y))
    )
    assert_same(here, there, X, in_chunks(X, (100, 200)))


def test_candidates_are_ranked_by_the_same_sample_of_many_rows(client):
    X, y, _ = drawn(40_000, dtype=np.float32)
    here = SCNRegressor(**SMALL).fit(X, y)
    there = DaskSCNRegressor(**SMALL, client=client).fit(
        *(in_chunks(a, (9_000, 31_000)) for a in (X, y))
    )
    for mine, other in zip(nodes_of(there), nodes_of(here), strict=True):
        np.testing.assert_array_equal(mine, other)
    assert there.predict(in_chunks(X, (40_000,))).dtype == np.float32


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_rsc_kde_weighs_rows_as_in_memory(client, n_outputs):
    X, y, weight = drawn(2_500, n_outputs)  # too many for the exact sums of the density
    settings = SMALL | {"max_nodes": 6, "n_rounds": 2, "weighting": "kde"}
    lengths = (1_000, 0, 1_500)
    here = RSCKDERegressor(**settings).fit(X, y, weight)
    there = DaskRSCKDERegressor(**settings, client=client)
    there.fit(*(in_chunks(array, lengths) for array in (X, y, weight)))
    assert_same(here, there, X, in_chunks(X, lengths))
    assert_rows_judged_alike(here, there, lengths)


ROBUST = {"n_networks": 2, "max_nodes": 5, "n_rounds": 4, "n_candidates": 5, "random_state": 0}


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_flagship_judges_rows_as_in_memory(client, many_rows, n_outputs):
    X, y, weight = drawn(many_rows, n_outputs)
    lengths = (150, 0, many_rows - 150)
    here = RobustSCNRegressor(**ROBUST).fit(X, y, weight)
    there = DaskRobustSCNRegressor(**ROBUST, n_jobs=2, client=client)
    there.fit(*(in_chunks(array, lengths) for array in (X, y, weight)))
    assert_same(here, there, X, in_chunks(X, lengths))
    assert_rows_judged_alike(here, there, lengths)
    mean, std = there.predict(in_chunks(X, lengths), return_std=True)
    assert isinstance(std, da.Array)
    assert std.chunks == mean.chunks
    _, wanted = here.predict(X, return_std=True)
    np.testing.assert_allclose(std.compute(), wanted, rtol=1e-6)
    local = there.to_local(rows=True)
    assert type(local) is RobustSCNRegressor
    np.testing.assert_array_equal(local.outliers_, here.outliers_)
    np.testing.assert_array_equal(local.outlier_table()["row"], here.outlier_table()["row"])


def test_few_rows_are_brought_here_and_fitted_as_in_memory(client):
    X, y, weight = drawn(400)
    X[200:300] = X[:100]  # twins, whose targets a network must not be judged by
    lengths = (150, 0, 250)
    columns = [in_chunks(array, lengths) for array in (X, y, weight)]
    here = RobustSCNRegressor(**ROBUST).fit(X, y, weight)
    there = DaskRobustSCNRegressor(**ROBUST, client=client).fit(*columns)
    np.testing.assert_array_equal(there.to_local().predict(X), here.predict(X))
    # Rows of another chunk are added up by another kernel where a product ends.
    np.testing.assert_allclose(there.predict(columns[0]).compute(), here.predict(X), rtol=1e-12)
    assert_rows_judged_alike(here, there, lengths)
    # Once to weigh the rows and once to bring them: nothing is asked of the workers after that.
    assert there.n_passes_ == 2


def assert_rows_judged_alike(here, there, lengths):
    assert isinstance(there.outliers_, da.Array)
    assert there.inlier_weight_.chunks == (lengths,)
    np.testing.assert_array_equal(there.outliers_.compute(), here.outliers_)
    for name in ("inlier_weight_", "residuals_", "expected_"):
        np.testing.assert_allclose(
            getattr(there, name).compute(), getattr(here, name), rtol=1e-8, atol=1e-8
        )
    pd.testing.assert_frame_equal(there.outlier_table(), here.outlier_table(), rtol=1e-8)


@pytest.mark.parametrize(
    ("here", "there", "more"),
    [
        (SCNRegressor, DaskSCNRegressor, {"max_nodes": 9}),
        (RSCKDERegressor, DaskRSCKDERegressor, {"n_rounds": 3}),
    ],
)
def test_going_on_gives_what_a_longer_fit_in_memory_gives(client, here, there, more):
    X, y, _ = drawn(300, 2)
    lengths = (120, 0, 180)
    columns = [in_chunks(array, lengths) for array in (X, y)]
    settings = SMALL | {"block": 1} | ({"n_rounds": 1} if "n_rounds" in more else {})
    model = there(**settings, warm_start=True, client=client).fit(*columns)
    model.set_params(**more).fit(*columns)
    assert_same(here(**settings | more).fit(X, y), model, X, columns[0])


def test_going_on_with_weights_needs_the_same_chunks(client):
    X, y, _ = drawn(300)
    model = DaskRSCKDERegressor(**SMALL, n_rounds=1, warm_start=True, client=client)
    model.fit(in_chunks(X, (150, 150)), in_chunks(y, (150, 150))).set_params(n_rounds=2)
    with pytest.raises(ValueError, match="300 rows in 2 chunks, X has 300 rows in 2 chunks or"):
        model.fit(in_chunks(X, (100, 200)), in_chunks(y, (100, 200)))
    model.set_params(warm_start=False)
    model.fit(in_chunks(X, (100, 200)), in_chunks(y, (100, 200)))
    assert model.inlier_weight_.chunks == ((100, 200),)


def test_data_frames_with_unknown_chunks_keep_their_names(client):
    X, y, _ = drawn(300)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y, n=np.arange(300) % 3)
    spread = dd.from_pandas(frame, npartitions=4)
    spread = spread[spread["n"] != 1]  # leaves chunks of unknown length
    kept = frame[frame["n"] != 1]
    inputs = ["a", "b", "c", "n"]
    here = SCNRegressor(**SMALL).fit(kept[inputs], kept["y"])
    there = DaskSCNRegressor(**SMALL, client=client).fit(spread[inputs], spread["y"])
    np.testing.assert_array_equal(there.feature_names_in_, inputs)
    assert_same(here, there, kept[inputs], spread[inputs])
    np.testing.assert_allclose(there.to_local().predict(kept[inputs]), here.predict(kept[inputs]))
    score = there.score(spread[inputs], spread["y"])
    np.testing.assert_allclose(score, here.score(kept[inputs], kept["y"]), rtol=1e-10)
    with pytest.raises(ValueError, match="feature names"):
        there.predict(spread[["b", "a", "c", "n"]])


def test_a_fitted_estimator_is_copied_and_saved_without_its_cluster(client):
    X, y, _ = drawn(200)
    model = DaskSCNRegressor(max_nodes=2, random_state=0, client=client, **QUICK)
    model.fit(in_chunks(X, (100, 100)), in_chunks(y, (100, 100)))
    assert clone(model).client is client
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.client is None
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


# ---------------------------------------------------------------- the command line


def test_the_command_line_fits_parquet_in_parts(client, many_rows, tmp_path, capsys):
    X, y, _ = drawn(many_rows)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(size=y)
    frame["mill"] = np.array(["A", "B", None])[np.arange(many_rows) % 3]
    frame.loc[7, "a"] = np.nan
    frame.loc[250, "size"] = np.nan
    frame.to_parquet(tmp_path / "whole.parquet")
    for number, rows in enumerate((slice(0, 100), slice(100, 120), slice(120, many_rows))):
        frame[rows].to_parquet(tmp_path / f"part-{number}.parquet")
    small = ["--networks=2", "--nodes=5", "--rounds=4", "--report=none", "--json"]

    def fitted(data, name, *more):
        places = [f"--model={tmp_path / name}.skops", f"--outliers={tmp_path / name}.csv"]
        code = main(["fit", str(tmp_path / data), "--target=size", *places, *small, *more])
        printed = capsys.readouterr()
        assert code == 0, printed.err
        model = load(tmp_path / f"{name}.skops").model
        return json.loads(printed.out), model.predict(frame), pd.read_csv(tmp_path / f"{name}.csv")

    facts, expected, suspects = fitted("whole.parquet", "here")
    address = client.scheduler.address
    found, predicted, listed = fitted("part-*.parquet", "there", f"--scheduler={address}")
    np.testing.assert_allclose(predicted, expected, rtol=1e-8, atol=1e-8)
    pd.testing.assert_frame_equal(listed, suspects, rtol=1e-8)
    for name in ("rows", "rows_without_target", "columns", "flagged_rows", "stop_reason"):
        assert found[name] == facts[name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["data.csv", "--dask"], "--dask reads Parquet"),
        (["no-such-*.parquet", "--dask"], "there is no file"),
        (["data.parquet", "--dask", "--time", "t"], "need the table in memory"),
        (["data.parquet", "--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
    ],
)
def test_what_a_cluster_cannot_do_is_said_before_it_is_started(
    words, message, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("robustscn.cli.cluster.ANSWER_SECONDS", 0.5)
    pd.DataFrame({"size": [1.0], "a": [2.0]}).to_parquet("data.parquet")
    assert main(["fit", *words, "--target", "size"]) == 2
    assert message in capsys.readouterr().err


# ---------------------------------------------------------------- failures


class InTheMiddle:
    """A callback that does something after the second block of nodes."""

    def __init__(self, action):
        self.action, self.blocks = action, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        if context.task_name == "nodes":
            self.blocks += 1
            if self.blocks == 2:
                self.action()
                self.when = time.monotonic()


def kill_a_worker(client):
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


def restart_a_worker(client):
    client.restart_workers(list(client.nthreads())[:1])


@pytest.fixture
def fresh_client():
    """A cluster of its own: one whose worker was killed may not let the next be restarted."""
    with cluster() as started, distributed.Client(started) as connected:
        yield connected


@pytest.mark.hostile
@pytest.mark.parametrize("lose", [kill_a_worker, restart_a_worker])
def test_a_worker_lost_in_the_middle_of_a_fit_does_not_change_the_answer(fresh_client, lose):
    pytest.importorskip("sklearn.callback")
    client = fresh_client
    X, y, _ = drawn(2_500)
    lengths = (600, 900, 1_000)
    settings = SMALL | {"max_nodes": 6, "n_rounds": 2}
    columns = [in_chunks(array, lengths) for array in (X, y)]
    here = RSCKDERegressor(**settings).fit(X, y)
    before = set(client.run(os.getpid).values())
    loser = InTheMiddle(lambda: lose(client))
    there = DaskRSCKDERegressor(**settings, client=client).set_callbacks(loser).fit(*columns)
    assert loser.blocks > 2
    client.wait_for_workers(2, timeout=60)
    assert set(client.run(os.getpid).values()) != before
    assert_same(here, there, X, columns[0])
    assert_rows_judged_alike(here, there, lengths)


def bad(array, row, column, value):
    array = array.copy()
    array[row, column] = value
    return array


def _raised(block):
    if block.shape[0] == 150:
        raise OSError("disk on fire")
    return block


WRONG = {
    "a missing value": (
        lambda X, y: (in_chunks(bad(X, 170, 1, np.nan), (150, 150)), in_chunks(y, (150, 150))),
        "chunk 1: column '1' of X has a missing value in row 20",
    ),
    "an infinite target": (
        lambda X, y: (in_chunks(X, (150, 150)), in_chunks(np.append(y[1:], np.inf), (150, 150))),
        "chunk 1: y has an infinite value in row 149",
    ),
    "text": (
        lambda X, y: (
            dd.from_pandas(pd.DataFrame(X).assign(city="Oslo"), npartitions=2),
            in_chunks(y, (150, 150)),
        ),
        "column 'city' of X .* no number",
    ),
    "text in an array": (
        lambda X, y: (
            in_chunks(bad(X.astype(object), 3, 0, "n/a"), (150, 150)),
            in_chunks(y, (150, 150)),
        ),
        "chunk 0 .* could not convert string to float: 'n/a'",
    ),
    "a chunk that raises": (
        lambda X, y: (
            in_chunks(X, (140, 150, 10)).map_blocks(_raised, meta=X[:0]),
            in_chunks(y, (140, 150, 10)),
        ),
        "chunk 1 .* OSError: disk on fire",
    ),
    "other chunks": (
        lambda X, y: (in_chunks(X, (150, 150)), in_chunks(y, (100, 200))),
        "chunk 0 of X has 150 rows and chunk 0 of y has 100.*rechunk",
    ),
    "fewer chunks": (
        lambda X, y: (in_chunks(X, (150, 150)), in_chunks(y, (300,))),
        "X has 2 chunks of rows and y has 1",
    ),
    "one dimension": (lambda _, y: (in_chunks(y, (300,)),) * 2, "X has 1 dimensions and needs two"),
    "no rows": (lambda X, y: (in_chunks(X[:0], (0,)), in_chunks(y[:0], (0,))), "X has no rows"),
    "huge inputs": (
        lambda X, y: (in_chunks(1e101 * X, (150, 150)), in_chunks(y, (150, 150))),
        "X has values beyond",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_named(client, name):
    make, words = WRONG[name]
    X, y, _ = drawn(300)
    with pytest.raises(ValueError, match=words):
        DaskSCNRegressor(random_state=0, client=client).fit(*make(X, y))


def test_chunks_of_unknown_length_must_fit_too(client):
    X, y, _ = drawn(300)
    frame = dd.from_pandas(pd.DataFrame(X, columns=list("abc")).assign(y=y), npartitions=2)
    with pytest.raises(ValueError, match=r"chunk 0 of X has \d+ rows and chunk 0 of y has 150"):
        DaskSCNRegressor(client=client).fit(frame[frame["a"] > 0.5][["a", "b"]], frame["y"])


@pytest.mark.parametrize(
    ("weight", "words"),
    [(np.zeros(300), "all sample weights are zero"), (-np.ones(300), "negative in row 0"),
     (np.full(300, 1e40), "between 1e-30 and 1e30")],
)  # fmt: skip
def test_bad_weights_are_refused(client, weight, words):
    X, y, _ = drawn(300)
    columns = (in_chunks(array, (150, 150)) for array in (X, y, weight))
    with pytest.raises(ValueError, match=words):
        DaskSCNRegressor(client=client).fit(*columns)


def test_arrays_in_memory_and_a_missing_client_are_explained(client):
    X, y, _ = drawn(30)
    with pytest.raises(TypeError, match=r"X is a numpy.ndarray.*from_array"):
        DaskSCNRegressor(client=client).fit(X, y)
    model = DaskSCNRegressor(2, client=client, random_state=0, **QUICK)
    model.fit(in_chunks(X, (15, 15)), in_chunks(y, (15, 15)))
    with pytest.raises(ValueError, match="3 features"):
        model.predict(in_chunks(X[:, :2], (15, 15)))
    with pytest.raises(ValueError, match="column 1 of X has a missing"):
        model.predict(in_chunks(bad(X, 20, 1, np.nan), (15, 15))).compute()


def test_gaps_are_no_business_of_the_flagship_on_a_cluster(client):
    X, y, _ = drawn(60)
    gappy = bad(X, 40, 1, np.nan)
    model = DaskRobustSCNRegressor(**ROBUST, client=client)
    with pytest.raises(ValueError, match="chunk 1: column '1' of X has a missing value in row 10"):
        model.fit(in_chunks(gappy, (30, 30)), in_chunks(y, (30, 30)))
    model.fit(in_chunks(X, (30, 30)), in_chunks(y, (30, 30)))
    with pytest.raises(ValueError, match="column 1 of X has a missing"):
        model.predict(in_chunks(gappy, (30, 30))).compute()
    for ask in (model.predict, model.predict_interval, model.to_local().predict):
        with pytest.raises(ValueError, match="fitted on a cluster"):
            ask(gappy)


def test_without_a_client_the_error_says_how_to_start_one(monkeypatch):
    def none():
        raise ValueError("No clients found")

    monkeypatch.setattr("robustscn.dask.sharing.default_client", none)
    X, y, _ = drawn(30)
    with pytest.raises(ValueError, match="there is no Dask client: start one"):
        DaskSCNRegressor().fit(in_chunks(X, (30,)), in_chunks(y, (30,)))


def test_results_that_are_long_in_coming_are_waited_for(client, monkeypatch):
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.001)  # many looks while they travel
    large = client.map(lambda n: np.full(5_000_000, n), range(4), pure=False)
    distributed.wait(large)
    for _ in range(3):
        found = waiting.gathered(client, large)
        assert [(len(part), part[0]) for part in found] == [(5_000_000, n) for n in range(4)]


@pytest.mark.hostile
@pytest.mark.parametrize("ending", ["closed", "restarted", "without workers"])
def test_a_cluster_that_goes_away_is_an_error_and_no_hang(monkeypatch, ending):
    pytest.importorskip("sklearn.callback")
    monkeypatch.setattr(waiting, "LONELY_SECONDS", 1.0)
    monkeypatch.setattr(waiting, "LOOK_SECONDS", 0.3)
    X, y, _ = drawn(400)
    with cluster(1) as started, distributed.Client(started, timeout=3) as client:
        endings = {
            "closed": lambda: started.sync(started.scheduler.close),
            "restarted": lambda: client.restart(wait_for_workers=False),
            "without workers": lambda: started.scale(0),
        }
        model = DaskSCNRegressor(200, random_state=0, tol=0.0, client=client, **QUICK)
        end = InTheMiddle(endings[ending])
        model.set_callbacks(end)
        with pytest.raises(ClusterError, match="again"):
            model.fit(in_chunks(X, (100,) * 4), in_chunks(y, (100,) * 4))
        assert time.monotonic() - end.when < 60


def test_on_a_cluster_no_row_is_trusted_yet(client, many_rows):
    X, y = np.random.default_rng(0).uniform(size=(2, many_rows, 1))
    model = DaskRobustSCNRegressor(client=client)
    chunks = da.from_array(X, chunks=(200, 1)), da.from_array(y[:, 0], chunks=200)
    with pytest.raises(ValueError, match="in memory only"):
        model.fit(*chunks, trusted=np.ones(many_rows, dtype=bool))


def test_on_a_cluster_there_are_no_groups_yet(client, many_rows):
    X, y = np.random.default_rng(0).uniform(size=(2, many_rows, 1))
    chunks = da.from_array(X, chunks=(200, 1)), da.from_array(y[:, 0], chunks=200)
    with pytest.raises(ValueError, match="in memory only"):
        DaskRobustSCNRegressor(client=client).fit(*chunks, groups=np.arange(many_rows))
