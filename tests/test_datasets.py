"""The data: literal formulas, properties of the contamination, sources, mass balances."""

import doctest
import math
import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from urllib.error import URLError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from sklearn.utils import Bunch

from robustscn.datasets import (
    CircuitParameters,
    circuit_derivatives,
    contaminate,
    function_target,
    load_keel,
    make_function,
    make_grinding,
    steady_state,
)
from robustscn.datasets import circuit as circuit_module
from robustscn.datasets import grinding as grinding_module
from robustscn.datasets import keel as keel_module

needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)


@pytest.mark.parametrize(
    "module",
    ["circuit", "contamination", "function", "grinding", pytest.param("keel", marks=needs_keel)],
)
def test_examples_in_docstrings_run(module):
    found = doctest.testmod(import_module(f"robustscn.datasets.{module}"))
    assert found.attempted > 0
    assert found.failed == 0


# The function


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        (0.4, 0.2 + 0.5 * math.exp(-64) + 0.3 * math.exp(-144)),
        (0.5, 0.2 / math.e + 0.5),
        (0.25, 0.2 * math.exp(-2.25) + 0.3),
        (0.2625, 0.2 * math.exp(-1.890625) + 0.3 / math.e),
        (0.4875, 0.2 * math.exp(-0.765625) + 0.5 / math.e),
        (-1.0, 0.0),
    ],
)
def test_function_at_points_worked_by_hand(x, expected):
    assert function_target(x) == pytest.approx(expected, rel=1e-14, abs=1e-80)


def test_function_keeps_the_shape():
    assert function_target(np.zeros((3, 4, 2))).shape == (3, 4, 2)


def test_predicting_zero_on_the_grid_scores_the_published_figure():
    _, y = make_function(600, grid=True)
    assert np.sqrt(np.mean(y**2)) == pytest.approx(0.0783, abs=5e-5)


def test_grid_is_regular_and_reaches_both_ends():
    X, y = make_function(5, grid=True)
    np.testing.assert_array_equal(X, [[-1.0], [-0.5], [0.0], [0.5], [1.0]])
    np.testing.assert_array_equal(y, function_target(X[:, 0]))


def test_random_inputs_fill_the_interval():
    X, y = make_function(2000, rng=0)
    assert X.shape == (2000, 1)
    assert X.min() >= -1
    assert X.max() <= 1
    counts, _ = np.histogram(X, bins=10, range=(-1, 1))
    assert counts.min() > 140
    np.testing.assert_array_equal(y, function_target(X[:, 0]))


@pytest.mark.parametrize("make", [make_function, make_grinding])
def test_seeds_decide_the_draw(make):
    first, again, other = make(40, rng=7), make(40, rng=np.random.default_rng(7)), make(40, rng=8)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("make", [make_function, make_grinding])
def test_a_generator_moves_on(make):
    rng = np.random.default_rng(7)
    assert not np.array_equal(make(10, rng=rng)[0], make(10, rng=rng)[0])


@pytest.mark.parametrize("make", [make_function, make_grinding])
def test_no_samples_is_refused(make):
    with pytest.raises(ValueError, match="n_samples"):
        make(0)


# Contamination


@st.composite
def contaminations(draw):
    """Arguments of a call: targets, share, protocol with its options, and a seed."""
    n = draw(st.integers(1, 60))
    seed = draw(st.integers(0, 2**32))
    shape = draw(st.sampled_from([(n,), (n, 1), (n, 3)]))
    y = np.random.default_rng(seed).uniform(0, 1, shape)
    protocol = draw(st.sampled_from(["replace", "add", "one_sided", "clustered"]))
    options = {"protocol": protocol, "rng": seed}
    if protocol == "replace":
        options["low"] = draw(st.floats(-5, 5))
        options["high"] = options["low"] + draw(st.floats(0, 5))
    else:
        options["amplitude"] = draw(st.floats(0, 5))
    if protocol == "clustered":
        options["x"] = np.random.default_rng(seed + 1).uniform(0, 1, n)
    return y, draw(st.floats(0, 1)), options


@given(contaminations())
@settings(deadline=None)
def test_exactly_the_rows_of_the_mask_are_spoiled(call):
    y, fraction, options = call
    y.flags.writeable = False
    before = y.copy()
    dirty, hit = contaminate(y, fraction, **options)
    assert hit.dtype == bool
    assert hit.shape == y.shape[:1]
    assert hit.sum() == round(fraction * len(y))
    assert dirty.shape == y.shape
    np.testing.assert_array_equal(y, before)
    np.testing.assert_array_equal(dirty[~hit], y[~hit])
    assert not np.shares_memory(dirty, y)


@given(contaminations())
@settings(deadline=None)
def test_spoiled_targets_lie_in_the_range_of_their_protocol(call):
    y, fraction, options = call
    dirty, hit = contaminate(y, fraction, **options)
    tiny = 1e-12
    if options["protocol"] == "replace":
        assert np.all(dirty[hit] >= options["low"])
        assert np.all(dirty[hit] <= options["high"])
    else:
        shift = (dirty - y)[hit]
        lowest = 0.0 if options["protocol"] == "one_sided" else -options["amplitude"]
        assert np.all(shift >= lowest - tiny)
        assert np.all(shift <= options["amplitude"] + tiny)


@given(contaminations())
@settings(deadline=None)
def test_the_same_seed_spoils_the_same(call):
    y, fraction, options = call
    first, again = contaminate(y, fraction, **options), contaminate(y, fraction, **options)
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


@pytest.mark.parametrize(
    ("protocol", "low", "high"),
    [("replace", -0.2, 0.8), ("add", -0.5, 0.5), ("one_sided", 0.0, 0.5), ("clustered", -0.5, 0.5)],
)
def test_default_ranges_are_filled(protocol, low, high):
    x = np.arange(4000.0) if protocol == "clustered" else None
    dirty, hit = contaminate(np.zeros(4000), 0.5, protocol=protocol, x=x, rng=0)
    assert low <= dirty[hit].min() < low + 0.01
    assert high - 0.01 < dirty[hit].max() <= high
    assert dirty[hit].mean() == pytest.approx((low + high) / 2, abs=0.03)


def test_every_row_is_equally_likely():
    hits = sum(contaminate(np.zeros(10), 0.3, rng=seed)[1].astype(int) for seed in range(2000))
    np.testing.assert_allclose(hits, 600, atol=100)


def test_every_output_of_a_row_is_spoiled_on_its_own():
    dirty, hit = contaminate(np.zeros((200, 3)), 0.25, rng=0)
    assert np.all(dirty[hit] != 0)
    assert np.unique(dirty[hit]).size == 150


@given(st.integers(0, 10_000), st.integers(1, 50), st.floats(0, 1))
@settings(deadline=None)
def test_clustered_rows_are_neighbours_in_x(seed, n, fraction):
    x = np.random.default_rng(seed).permutation(n)
    _, hit = contaminate(np.zeros(n), fraction, protocol="clustered", x=x, rng=seed)
    run = np.sort(x[hit])
    np.testing.assert_array_equal(run, np.arange(len(run)) + (run[0] if len(run) else 0))


def test_clusters_fall_anywhere():
    x = np.arange(10)
    starts = {
        int(np.flatnonzero(contaminate(x, 0.3, protocol="clustered", x=x, rng=seed)[1])[0])
        for seed in range(300)
    }
    assert starts == set(range(8))


@pytest.mark.parametrize(
    ("dtype", "expected"), [("float32", "float32"), ("float64", "float64"), ("int64", "float64")]
)
def test_targets_stay_or_become_floating_point(dtype, expected):
    dirty, _ = contaminate(np.arange(10, dtype=dtype), 0.5, rng=0)
    assert dirty.dtype == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": -0.1}, "fraction"),
        ({"fraction": 1.1}, "fraction"),
        ({"fraction": math.nan}, "fraction"),
        ({"protocol": "multiply"}, "replace, add, one_sided, clustered"),
        ({"protocol": "replace", "low": 1.0, "high": 0.0}, "low"),
        ({"protocol": "replace", "amplitude": 0.2}, "does not use amplitude"),
        ({"protocol": "add", "low": 0.0}, "does not use low"),
        ({"protocol": "add", "amplitude": -1.0}, "amplitude"),
        ({"protocol": "clustered"}, "x="),
        ({"protocol": "clustered", "x": np.zeros(3)}, "x="),
        ({"y": np.zeros((2, 2, 2))}, "dimensions"),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        contaminate(**{"y": np.zeros(10), "fraction": 0.1, **options})


# KEEL


@needs_keel
@pytest.mark.parametrize(
    ("name", "shape", "target_name", "low", "high"),
    [
        ("stock", (950, 9), "Company10", 34, 62),
        ("laser", (993, 4), "Output", 0, 255),
        ("concrete", (1030, 8), "ConcreteCompressiveStrength", 2.33, 82.6),
        ("treasury", (1049, 15), "1MonthCDRate", 3.02, 20.76),
    ],
)
def test_keel_data_are_those_described(name, shape, target_name, low, high):
    loaded = load_keel(name)
    assert loaded.data.shape == shape
    assert loaded.data.dtype == loaded.target.dtype == np.float64
    assert loaded.target.shape == shape[:1]
    assert (loaded.target.min(), loaded.target.max()) == (low, high)
    assert len(loaded.feature_names) == shape[1]
    assert loaded.target_name == target_name
    assert target_name in loaded.DESCR
    header = (Path(os.environ["ROBUSTSCN_DATA"]) / f"{name}.csv").read_text().splitlines()[0]
    assert header.split(",") == [*loaded.feature_names, target_name]


VALUES = np.array([[1.5, -2.25], [0.0, 295.8], [1.5, -3.125], [7.0, 0.001]])


@pytest.fixture
def toy(monkeypatch, tmp_path):
    """Make a data set "toy" known; its given and cache folders are empty, OpenML is down."""
    source = keel_module._Source("made up", 1, keel_module._checksum(VALUES), ("In",), "Out")
    monkeypatch.setattr(keel_module, "_SOURCES", {"toy": source})
    given_folder, cache = tmp_path / "given", tmp_path / "home" / "robustscn"
    given_folder.mkdir()
    monkeypatch.setenv("ROBUSTSCN_DATA", str(given_folder))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    answer(monkeypatch, URLError("no route"))
    return Bunch(given=given_folder / "toy.csv", cache=cache / "toy.csv")


def answer(monkeypatch, reply, names=("In", "Out")):
    """Let OpenML answer with these values, or fail with this error."""

    def fetch(**_):
        if isinstance(reply, Exception):
            raise reply
        return Bunch(data=reply, feature_names=list(names))

    monkeypatch.setattr(keel_module, "fetch_openml", fetch)


def write(path, values):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [",".join(map(str, row)) for row in values]
    path.write_text("\n".join(["In,Out", *rows, ""]), encoding="utf-8")


def test_the_named_folder_comes_before_the_cache(toy):
    write(toy.given, VALUES)
    write(toy.cache, VALUES[::-1])
    X, y = load_keel("toy", return_X_y=True)
    np.testing.assert_array_equal(np.column_stack([X, y]), VALUES)


def test_the_cache_comes_before_openml(toy, monkeypatch):
    write(toy.cache, VALUES[::-1])
    answer(monkeypatch, VALUES)
    np.testing.assert_array_equal(load_keel("toy").target, VALUES[::-1, 1])


def test_the_cache_serves_without_a_named_folder(toy, monkeypatch):
    monkeypatch.delenv("ROBUSTSCN_DATA")
    write(toy.cache, VALUES)
    np.testing.assert_array_equal(load_keel("toy").target, VALUES[:, 1])


def test_the_cache_is_in_the_home_folder_unless_told(monkeypatch):
    monkeypatch.delenv("SCIKIT_LEARN_DATA", raising=False)
    assert keel_module._cache_folder() == Path.home() / "scikit_learn_data" / "robustscn"


def test_a_download_is_cached_whole_and_used_again(toy, monkeypatch):
    answer(monkeypatch, VALUES)
    fetched = load_keel("toy")
    assert [path.name for path in toy.cache.parent.iterdir()] == ["toy.csv"]
    answer(monkeypatch, URLError("no route"))
    again = load_keel("toy")
    np.testing.assert_array_equal(fetched.data, again.data)
    np.testing.assert_array_equal(again.target, VALUES[:, 1])
    assert toy.cache.read_text().startswith("In,Out\n1.5,-2.25\n")


@pytest.mark.usefixtures("toy")
def test_a_download_is_put_in_order(monkeypatch):
    single = VALUES[::-1, ::-1].astype(np.float32)
    answer(monkeypatch, single, names=["OUT", "anything"])
    np.testing.assert_array_equal(load_keel("toy").target, VALUES[::-1, 1])


def test_a_wrong_download_is_refused_and_not_cached(toy, monkeypatch):
    answer(monkeypatch, VALUES + 1)
    with pytest.raises(ValueError, match="OpenML data_id 1 does not hold"):
        load_keel("toy")
    assert not toy.cache.exists()


def test_a_cache_that_cannot_be_written_does_not_matter(toy, monkeypatch):
    toy.cache.parent.parent.write_text("a file where the folder should be")
    answer(monkeypatch, VALUES)
    np.testing.assert_array_equal(load_keel("toy").target, VALUES[:, 1])


@pytest.mark.parametrize("place", ["given", "cache"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: write(path, np.where(VALUES == 0.001, 0.002, VALUES)),
        lambda path: write(path, VALUES[:-1]),
        lambda path: write(path, VALUES[:, ::-1]),
        lambda path: write(path, VALUES[:, :1]),
        lambda path: write(path, np.where(VALUES == 7, np.nan, VALUES)),
        lambda path: write(path, np.where(VALUES == 7, 1e300, VALUES)),
        lambda path: write(path, [["a", "b"]]),
        lambda path: write(path, [[1.5, -2.25], [0.0]]),
        lambda path: write(path, []),
        lambda path: (write(path, []), path.write_bytes(b"\xff\xfe\x00")),
        lambda path: (write(path, []), path.write_text("")),
    ],
    ids=[
        "digit",
        "row-lost",
        "columns-swapped",
        "column-lost",
        "nan",
        "huge",
        "words",
        "ragged",
        "header-only",
        "bytes",
        "empty",
    ],
)
def test_a_damaged_file_is_named(toy, place, spoil):
    spoil(toy[place])
    with pytest.raises(ValueError, match="damaged or another version") as caught:
        load_keel("toy")
    assert str(toy[place]) in str(caught.value)
    assert "OpenML data_id 1" in str(caught.value)


@given(st.permutations(range(4)))
def test_the_checksum_does_not_see_the_order_of_rows(order):
    assert keel_module._checksum(VALUES[order]) == keel_module._checksum(VALUES)


@pytest.mark.parametrize("failure", [URLError("no route"), ValueError("no such id")])
def test_a_missing_file_names_three_ways(toy, monkeypatch, failure):
    answer(monkeypatch, failure)
    with pytest.raises(FileNotFoundError) as caught:
        load_keel("toy")
    message = str(caught.value)
    assert "ROBUSTSCN_DATA" in message
    assert str(toy.given.parent) in message
    assert str(toy.cache.parent) in message
    assert "OpenML (data_id 1)" in message
    assert str(failure) in message
    assert not toy.cache.parent.exists()


def test_sklearn_accepts_how_we_ask(monkeypatch, tmp_path):
    # Behind the real fetch_openml: a refused argument would look like a network failure.
    def down(*_, **__):
        raise URLError("no route")

    monkeypatch.delenv("ROBUSTSCN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", down)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _: None)
    with pytest.raises(FileNotFoundError, match=r"no route.*not set"):
        load_keel("laser")


def test_frames(toy):
    pd = pytest.importorskip("pandas")
    write(toy.given, VALUES)
    X, y = load_keel("toy", return_X_y=True, as_frame=True)
    pd.testing.assert_frame_equal(X, pd.DataFrame({"In": VALUES[:, 0]}))
    pd.testing.assert_series_equal(y, pd.Series(VALUES[:, 1], name="Out"))
    loaded = load_keel("toy", as_frame=True)
    assert list(loaded.frame.columns) == ["In", "Out"]
    assert load_keel("toy").frame is None


@pytest.mark.parametrize(
    ("name", "message"),
    [("Stok", "did you mean 'stock'"), ("iris", "stock, laser, concrete, treasury")],
)
def test_an_unknown_name_gets_the_valid_ones(name, message):
    with pytest.raises(ValueError, match=message):
        load_keel(name)


# The grinding circuit


@pytest.fixture(scope="module")
def settled():
    """Draw 200 inputs (3, n) in the box, and where the circuit settles with them."""
    inputs = np.random.default_rng(0).uniform(
        grinding_module.LOWEST, grinding_module.HIGHEST, (200, 3)
    )
    return inputs.T, steady_state(*inputs.T)


def test_circuit_settles_where_the_survey_found_it():
    survey = steady_state(65.2, 4.64, 140.5)
    assert survey.pse == pytest.approx(0.668, abs=0.002)
    assert survey.power == pytest.approx(1183, abs=2)
    assert survey.cyclone_feed == pytest.approx(370, abs=2)
    assert survey.pse.shape == ()
    assert survey.state.shape == (6,)


def test_what_goes_in_comes_out(settled):
    (feed, mill_water, sump_water), found = settled
    np.testing.assert_allclose(found.product_solids, feed / 3.2, rtol=1e-9)
    np.testing.assert_allclose(found.product_water, mill_water + sump_water, rtol=1e-9)
    np.testing.assert_allclose(found.pse, found.product_fines / found.product_solids, rtol=1e-12)


def test_fines_leave_as_fast_as_they_are_fed_and_made(settled):
    (feed, _, _), found = settled
    filling = (found.state[0] + found.state[1] + found.state[3] + 8.51) / 59.12
    made = found.power / (3.2 * 29.6 * (1 + 0.01 * (filling - 0.34)))
    np.testing.assert_allclose(found.product_fines, 0.055 * feed / 3.2 + made, rtol=1e-9)


def test_rocks_break_as_fast_as_they_are_fed(settled):
    (feed, _, _), found = settled
    water, solids, _, rocks = found.state[:4]
    mobility = np.sqrt(1 - (1 / 0.6 - 1) * solids / water)
    broken = found.power * mobility / (3.2 * 6.03) * rocks / (rocks + solids)
    np.testing.assert_allclose(broken, 0.465 * feed / 3.2, rtol=1e-8)


def test_power_has_the_published_form(settled):
    _, found = settled
    water, solids, _, rocks = found.state[:4]
    mobility = np.sqrt(1 - (1 / 0.6 - 1) * solids / water)
    off_filling = (water + solids + rocks + 8.51) / (59.12 * 0.34) - 1
    off_mobility = mobility / 0.57 - 1
    literal = 1662 * (1 - 0.5 * off_filling**2 - 0.5 * off_mobility**2) * 0.712
    np.testing.assert_allclose(found.power, literal, rtol=1e-12)


def test_coarse_grains_divide_as_published(settled):
    _, found = settled
    flow = found.cyclone_feed
    solids, fines = flow * found.state[4] / 5.99, flow * found.state[5] / 5.99
    water = flow - solids
    back = solids - found.product_solids
    fines_back = fines - found.product_fines
    water_back = water - found.product_water
    literal = (
        (solids - fines)
        * (1 - 0.6 * np.exp(-flow / 129))
        * (1 - (solids / flow / 0.7) ** 4)
        * (1 - (fines / solids) ** 4)
    )
    np.testing.assert_allclose(back - fines_back, literal, rtol=1e-8)
    under = 0.6 - (0.6 - solids / flow) * np.exp(-literal / (0.87 * 129))
    np.testing.assert_allclose(back / (back + water_back), under, rtol=1e-8)
    np.testing.assert_allclose(fines_back / fines, water_back / water, rtol=1e-8)


def test_nothing_moves_at_the_steady_state(settled):
    inputs, found = settled
    assert np.abs(circuit_derivatives(found.state, *inputs)).max() < 1e-8


@pytest.mark.parametrize("row", [0, 1, 2])
def test_the_plant_gets_there_by_itself(settled, row):
    inputs, found = settled
    path = solve_ivp(
        lambda _, state: circuit_derivatives(state, *inputs[:, row]),
        (0, 60),
        circuit_module.START,
        method="LSODA",
        rtol=1e-8,
        atol=1e-9,
    )
    np.testing.assert_allclose(path.y[:, -1], found.state[:, row], rtol=1e-5)


def test_one_at_a_time_is_the_same_as_together(settled):
    inputs, found = settled
    alone = [float(steady_state(*column).pse) for column in inputs[:, :5].T]
    np.testing.assert_allclose(alone, found.pse[:5], rtol=1e-12)


def test_inputs_broadcast():
    found = steady_state([[55.0], [60.0]], [5.0, 10.0, 15.0], 140.0)
    assert found.pse.shape == (2, 3)
    assert found.state.shape == (6, 2, 3)
    assert found.pse[1, 2] == pytest.approx(float(steady_state(60.0, 15.0, 140.0).pse), rel=1e-12)


def test_an_overload_is_nan_and_leaves_the_others_alone():
    found = steady_state([65.2, 1e4, 120.0], [4.64, 4.64, 4.64], 140.5)
    np.testing.assert_array_equal(np.isnan(found.pse), [False, True, True])
    np.testing.assert_array_equal(np.isnan(found.state), [[False, True, True]] * 6)
    assert found.pse[0] == pytest.approx(0.668, abs=0.002)


def test_a_state_that_the_plant_would_leave_does_not_count(monkeypatch):
    # Newton's steps from a mill full of rocks end at the steady state beyond the peak of
    # power, from which the least disturbance leads away.
    monkeypatch.setattr(circuit_module, "START", np.array([4.85, 4.90, 1.09, 10.0, 1.88, 0.42]))
    monkeypatch.setattr(circuit_module, "_FIRST_STEP", 1e4)
    assert np.all(np.isnan(steady_state([62.0, 65.2], 4.64, [160.0, 140.5]).pse))


def test_a_plant_still_moving_does_not_count(monkeypatch):
    monkeypatch.setattr(circuit_module, "_N_STEPS", 10)
    assert np.isnan(steady_state(60.0, 15.0, 140.0).pse)


def test_absurd_inputs_neither_raise_nor_warn():
    inputs = np.exp(np.random.default_rng(0).uniform(-5, 20, (3, 200)))
    pse = steady_state(*inputs).pse
    assert np.all(np.isnan(pse) | ((pse > 0) & (pse < 1)))


@pytest.mark.parametrize("feed", [-1.0, np.nan, np.inf])
def test_impossible_inputs_are_refused(feed):
    with pytest.raises(ValueError, match="finite and not negative"):
        steady_state(feed, 4.64, 140.5)


def test_grinding_target_is_the_difference_of_two_circuits():
    X, y = make_grinding(20, scaled=False, rng=3)
    plant = CircuitParameters()
    model = replace(plant, fines_energy=0.9 * 29.6, cyclone_size=1.1 * 129)
    expected = steady_state(*X.T, plant).pse - steady_state(*X.T, model).pse
    np.testing.assert_allclose(y, expected, rtol=1e-10)
    assert np.ptp(y) > 0.01


def test_a_mechanism_without_error_leaves_nothing():
    _, y = make_grinding(10, mechanism=CircuitParameters(), scaled=False, rng=0)
    np.testing.assert_array_equal(y, 0.0)
    assert np.all(make_grinding(10, mechanism=CircuitParameters(), rng=0)[1] == 0.0)


def test_grinding_is_scaled_to_the_unit_interval():
    X, y = make_grinding(300, rng=0)
    raw_X, raw_y = make_grinding(300, scaled=False, rng=0)
    for column, raw in zip([*X.T, y], [*raw_X.T, raw_y], strict=True):
        assert (column.min(), column.max()) == (0.0, 1.0)
        np.testing.assert_allclose(column, (raw - raw.min()) / np.ptp(raw), rtol=1e-12)
    assert np.all(raw_X >= [50, 2, 80])
    assert np.all(raw_X <= [68, 25, 180])
    assert np.all(np.ptp(raw_X, axis=0) > [17, 22, 95])


def test_overloads_are_drawn_again():
    hard = replace(CircuitParameters(), fines_energy=1.1 * 29.6, cyclone_size=0.9 * 129)
    rng = np.random.default_rng(0)
    drawn = rng.uniform(grinding_module.LOWEST, grinding_module.HIGHEST, (200, 3))
    works = np.isfinite(steady_state(*drawn.T, hard).pse - steady_state(*drawn.T).pse)
    assert 0 < np.sum(~works) < 40
    X, y = make_grinding(200, mechanism=hard, scaled=False, rng=0)
    assert X.shape == (200, 3)
    assert np.all(np.isfinite(y))
    np.testing.assert_array_equal(X[: works.sum()], drawn[works])
    assert not np.any(np.all(X[works.sum() :, None] == drawn, axis=2))


def test_a_model_that_never_settles_is_an_error(monkeypatch):
    monkeypatch.setattr(grinding_module, "_MAX_BATCHES", 3)
    with pytest.raises(RuntimeError, match="only 0 of 5 samples"):
        make_grinding(5, mechanism=replace(CircuitParameters(), max_power=1.0), rng=0)
