"""Faults that only the other columns tell: another unit, a swap, drift; and what is none."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from robustscn.looks import episodes_of, look, order_of, with_causes
from robustscn.looks.levels import CONVERSIONS
from robustscn.looks.others import Others, memory_of
from robustscn.looks.ramps import ramp_of
from robustscn.looks.undoing import Chain, Guess, explained, stretches

N, WEEK = 600, slice(250, 320)
UNITS = {unit.words: unit for unit in CONVERSIONS}


def remembering(rng, memory, n=N):
    """An AR(1) of standard deviation one."""
    noise = rng.normal(size=n) * np.sqrt(1 - memory**2)
    noise[0] = rng.normal()
    for i in range(1, n):
        noise[i] += memory * noise[i - 1]
    return noise


def plant(seed=0, memory=0.6):
    """Flow, pressure and level, and a size that they make; all positive."""
    rng = np.random.default_rng(seed)
    flow, pressure, level = (remembering(rng, memory) for _ in range(3))
    table = np.column_stack([60 + 4 * flow, 150 + 9 * pressure, 30 + 3 * level])
    size = 0.5 * table[:, 0] + 0.3 * table[:, 1] + 0.2 * rng.normal(size=N)
    return np.column_stack([table, size])


def places(found):
    return [(each.guess.columns, each.first, each.end) for each in found]


@pytest.mark.parametrize("memory", [0.0, 0.6, 0.97])
@pytest.mark.parametrize("words", ["value / 100", "value / 1.8 - 17.8: °F read as °C"])
def test_a_unit_is_found_where_it_is_and_is_named(memory, words):
    table = plant(memory=memory)
    unit = UNITS[words]
    table[WEEK, 1] = unit.slope * table[WEEK, 1] + unit.start
    (found,) = explained(Others(table))
    assert found.guess == Guess((1,), unit)
    assert abs(found.first - WEEK.start) <= 1
    assert abs(found.end - WEEK.stop) <= 1


@pytest.mark.parametrize("memory", [0.0, 0.6, 0.97])
def test_swapped_columns_are_found(memory):
    table = plant(memory=memory)
    table[WEEK, :2] = table[WEEK, 1::-1]
    assert places(explained(Others(table))) == [((0, 1), WEEK.start, WEEK.stop)]


@pytest.mark.parametrize("memory", [0.0, 0.9, 0.99])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_clean_table_has_none(seed, memory):
    assert explained(Others(plant(seed, memory))) == []


@pytest.mark.parametrize("seed", [0, 2])
def test_columns_that_wander_under_noise_are_not_called_swapped(seed):
    rng = np.random.default_rng(seed)
    wandering = 0.06 * rng.normal(size=(2500, 6)).cumsum(axis=0)
    noise = rng.normal(size=(2500, 6))
    assert explained(Others(wandering + noise)) == []


def test_gaps_say_nothing():
    table = plant()
    gaps = np.zeros(table.shape, dtype=bool)
    gaps[WEEK, 1] = True
    table[WEEK, 1] = np.median(table[:, 1])
    assert explained(Others(table), gaps) == []


def test_a_stretch_is_the_best_of_all_stretches():
    """The sum over a stretch is the likelihood ratio of the two sequences, tried one by one."""
    rng = np.random.default_rng(3)
    before = rng.normal(size=(50, 1))
    before[20:40] += 3.0
    after = before - 3.0
    chain = Chain(np.array([0.0]), np.array([1.0]))

    def ratio(first, end):
        undone = before.copy()
        undone[first:end] = after[first:end]
        told = chain.told(undone, undone) - chain.told(before, before)
        return float(np.clip(told, -5, 5).sum())

    pairs = [(a, b) for a in range(50) for b in range(a + 16, 51) if b - a <= 20]
    best = max(pairs, key=lambda pair: ratio(*pair))
    first, end, total = stretches(before, after, chain, 5.0)[0]
    assert (first, end) == best
    assert first >= 18
    assert end <= 42
    assert_allclose(total, ratio(*best), rtol=1e-9)


def test_what_a_row_says_is_what_it_adds_to_the_row_before():
    chain = Chain(np.array([0.5]), np.array([2.0]))
    told = chain.told(np.array([[1.0], [4.5]]), np.array([[1.0], [9.0]]))
    assert_allclose(told[:, 0], [0.0, -3 * np.log(1 + ((4.5 - 0.5) / 2) ** 2 / 5)])


def test_memory_is_that_of_the_sequence():
    rng = np.random.default_rng(0)
    for memory in (0.0, 0.5, 0.9):
        assert abs(memory_of(remembering(rng, memory, 20_000)) - memory) < 0.03


def test_a_block_is_judged_by_models_that_have_not_seen_it():
    """Where an input names the block, a model that had seen it would vouch for it."""
    rng = np.random.default_rng(0)
    block = np.repeat(np.arange(10.0), 60)
    other = rng.normal(size=600)
    table = np.column_stack([block + 0.01 * rng.normal(size=600), other, other + 0.1 * other**2])
    table[300:360, 2] += 4.0
    deviations = Others(table).deviations(table)[:, 2]
    assert np.median(np.abs(deviations[300:360])) > 5


@pytest.mark.parametrize("memory", [0.0, 0.6])
def test_drift_is_found_with_its_beginning_and_a_step_is_none(memory):
    rng = np.random.default_rng(5)
    noise = remembering(rng, memory, 1000)
    after = np.clip((np.arange(1000) - 700) / 300, 0, None)
    found = ramp_of(noise + 4 * after)
    assert found is not None
    assert abs(found.first - 700) < 80
    assert abs(found.change - 4) < 1
    assert ramp_of(noise) is None
    assert ramp_of(noise + 2 * (np.arange(1000) >= 700)) is None


def test_residuals_that_stray_are_no_drift():
    rng = np.random.default_rng(6)
    found = [ramp_of(remembering(rng, 0.95, 800)) is not None for _ in range(100)]
    assert np.mean(found) <= 0.02


def test_the_look_says_it_in_words_and_of_the_right_rows():
    table = plant()
    table[WEEK, :2] = table[WEEK, 1::-1]
    frame = pd.DataFrame(table, columns=["flow", "pressure", "level", "size"])
    (found,) = [
        each for each in look(frame, list(frame.columns[:3]), ["size"]) if each.kind != "drift"
    ]
    assert (found.column, found.kind, found.contradicts) == ("flow", "swapped", True)
    assert found.words.startswith("is what 'pressure' should be")
    np.testing.assert_array_equal(found.rows, np.arange(WEEK.start, WEEK.stop))
    shuffled = frame.sample(frac=1, random_state=0)
    assert not look(shuffled, list(frame.columns[:3]), ["size"], order=order_of(shuffled))


def test_a_stuck_stretch_is_called_stuck_and_nothing_else():
    table = plant()
    table[WEEK, 1] = table[WEEK.start, 1]
    frame = pd.DataFrame(table, columns=["flow", "pressure", "level", "size"])
    found = look(frame, list(frame.columns[:3]), ["size"])
    assert [(each.column, each.kind) for each in found] == [("pressure", "stuck")]


def test_smaller_numbers_are_not_likelier_because_they_lie_closer_together():
    """A density of values that are ten times as wide is a tenth; a narrower one is no reward."""
    assert_allclose(Guess((0,), UNITS["10 times the value"]).cost, np.log(10))
    assert Guess((0,), UNITS["value / 10"]).cost == Guess((0, 1)).cost == 0.0
    chain = Chain(np.array([0.5]), np.array([1.0]), cost=2.0)
    assert_allclose(chain.inside(np.array([[3.0], [40.0], [-40.0]])), [0.5 * 3 - 0.5 * 2, 5, -5])


def test_an_episode_whose_inputs_are_wrong_says_so():
    table = plant()
    expected = table[:, 3].copy()
    expected[WEEK] += 7.0  # what a model makes of swapped inputs
    table[WEEK, :2] = table[WEEK, 1::-1]
    frame = pd.DataFrame(table, columns=["flow", "pressure", "level", "size"])
    far = np.abs(table[:, 3] - expected) > 3
    far[20] = True
    found = episodes_of(table[:, 3], expected, np.array([1.0]), far, order_of(frame), ["size"])
    week, spikes = with_causes(found, look(frame, ["flow", "pressure", "level"], ["size"]))
    assert week.kind == "inputs"
    assert week.words.startswith("input 'flow' is what 'pressure' should be")
    assert spikes == found[1]
    assert with_causes(found, []) == found


@pytest.mark.parametrize("seed", range(4))
def test_a_stuck_target_is_not_blamed_on_an_input(seed):
    """Where a cell says nothing, the others are asked without it."""
    rng = np.random.default_rng(seed)
    temperature = 20 + 10 * np.sin(np.arange(900) / 70) + rng.normal(size=900)
    pressure, flow = rng.uniform(1, 5, 900), rng.uniform(100, 200, 900)
    size = 0.5 * temperature + 3 * pressure + 0.02 * flow + 0.2 * rng.normal(size=900)
    size[500:524] = size[500]
    names = ["temperature", "pressure", "flow", "size"]
    frame = pd.DataFrame(dict(zip(names, (temperature, pressure, flow, size), strict=True)))
    assert [(f.column, f.kind) for f in look(frame, names, ["size"])] == [("size", "stuck")]


@pytest.mark.parametrize("size", [3.0, 8.0, 30.0, 150.0, -150.0])
def test_a_drift_of_any_size_is_one(size):
    noise = remembering(np.random.default_rng(0), 0.3, 1000)
    noise[[50, 400, 820, 930]] = 1000.0  # spikes
    found = ramp_of(noise + size * np.clip(np.arange(1000) - 700, 0, None) / 300)
    assert abs(found.first - 700) < 40
    assert abs(found.change / size - 1) < 0.25


@pytest.mark.parametrize("size", [8.0, 150.0])
@pytest.mark.parametrize("growth", [0.0, 0.4])
def test_a_step_of_any_size_is_none(size, growth):
    noise, after = remembering(np.random.default_rng(0), 0.3, 1000), np.arange(-700, 300)
    step = size * (after >= 0) * (1 + growth * after / 300)
    assert ramp_of(noise + step) is None


def test_residuals_that_walk_at_random_seldom_drift():
    walks = np.random.default_rng(0).normal(size=(200, 1000)).cumsum(axis=1)
    walks *= 10 / np.median(np.abs(walks), axis=1, keepdims=True)
    assert sum(ramp_of(walk) is not None for walk in walks) <= 9
