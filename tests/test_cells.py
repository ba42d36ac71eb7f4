"""Single wrong cells are named, and nothing else is blamed for them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from robustscn.cli.learning import task_of
from robustscn.looks import look
from robustscn.looks.cells import odd_cells
from robustscn.looks.others import Others

N = 440
NAMES = ["flow", "pressure", "level", "size"]
SLIPS = {(60, 0): 10.0, (61, 1): 10.0, (180, 2): 10.0, (290, 1): 100.0, (291, 1): 0.1}
"""Two columns wrong one row after the other, and one column in two rows."""


def plant(seed=0, memory=0.6):
    """Flow, pressure and level, each remembering its last value, and a size that they make."""
    rng = np.random.default_rng(seed)
    states = rng.normal(size=(N, 3))
    for row in range(1, N):
        states[row] = memory * states[row - 1] + np.sqrt(1 - memory**2) * states[row]
    inputs = [60.0, 150.0, 30.0] + [4.0, 9.0, 3.0] * states
    size = 0.5 * inputs[:, 0] + 0.3 * inputs[:, 1] + 0.2 * rng.normal(size=N)
    return np.column_stack([inputs, size])


def places(table):
    cells = odd_cells(Others(table), np.ones(table.shape, dtype=bool))
    return {(cell.row, cell.column): cell for cell in cells}


@pytest.mark.parametrize("memory", [0.0, 0.98])
def test_slips_are_named_with_what_should_be_there(memory):
    right = plant(memory=memory)
    table = right.copy()
    for place, times in SLIPS.items():
        table[place] *= times
    found = places(table)
    assert {place: cell.times for place, cell in found.items()} == SLIPS
    for place, cell in found.items():
        assert_allclose(cell.expected, right[place], rtol=0.25)


def test_slips_do_not_make_a_stretch_of_what_lies_between_them():
    table = plant(memory=0.98)
    for column in range(4):
        table[[40 + 13 * column, 310 + 13 * column], column] *= 10
    found = look(pd.DataFrame(table, columns=NAMES), NAMES[:3], ["size"])
    wrong = [each for each in found if each.kind not in ("drift", "level")]
    assert {(each.column, each.kind) for each in wrong} >= {(name, "unit") for name in NAMES[:3]}
    assert {(each.kind, len(each.rows)) for each in wrong} == {("unit", 2)}


@pytest.mark.parametrize("memory", [0.0, 0.98])
@pytest.mark.parametrize("seed", [1, 2])
def test_a_clean_table_has_none(seed, memory):
    assert not places(plant(seed, memory))


def test_a_value_beyond_all_others_is_odd_and_one_that_the_column_often_has_is_not():
    table = plant()
    table[100, 1] = 410.0
    assert list(places(table)) == [(100, 1)]
    table = plant()
    high, low = np.argmax(table[:, 0]), np.argmin(table[:, 0])
    table[high, 0] = table[low, 0]
    assert not places(table)


def test_a_step_and_a_bad_week_are_no_single_cells():
    table = plant()
    table[200:270, 1] *= 10
    assert not [place for place in places(table) if 205 <= place[0] < 265]
    table = plant(memory=0.98)
    table[220:, 1] += 200.0
    assert not places(table)


def test_inputs_are_not_blamed_for_a_wrong_target():
    table = plant()
    table[[50, 150], 3] *= 10
    found = look(pd.DataFrame(table, columns=NAMES), NAMES[:3], ["size"])
    assert {each.column for each in found if each.contradicts} == set()


def test_gaps_are_not_odd():
    table = plant()
    known = np.ones(table.shape, dtype=bool)
    table[100, 1], known[100, 1] = 1500.0, False
    assert odd_cells(Others(table), known) == []


def test_the_look_says_it_and_the_row_does_not_teach():
    table = plant()
    table[[60, 300, 420], 0] *= 10
    table[150, 2] = 150.0
    frame = pd.DataFrame(table, columns=NAMES, index=pd.RangeIndex(2, N + 2, name="line"))
    task = task_of(frame, ["size"])
    said = {each.column: each.sentence for each in task.findings if each.contradicts}
    assert said == {
        "flow": "is about 10 times what all around it says in 3 rows: unit or decimal sign? "
        "at line 62, 302, 422",
        "level": "is far from what all around it says in 1 row, at line 152",
    }
    assert list(np.flatnonzero(task.contradicted)) == [60, 150, 300, 420]
