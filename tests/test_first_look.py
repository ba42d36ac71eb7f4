"""A first look at a long table is the same fit on evenly spread rows."""

import numpy as np
import pandas as pd

from robustscn.cli.first_look import first_look, sample_of
from robustscn.cli.learning import task_of
from robustscn.cli.settings import Settings


def long_table(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 3 * x + 0.1 * rng.normal(size=n)
    y[rng.random(n) < 0.05] += 9
    when = pd.date_range("2024-01-01", periods=n, freq="min")
    table = pd.DataFrame({"when": when, "x": x, "y": y})
    return table.set_index(pd.RangeIndex(2, n + 2, name="line"))


def test_the_sample_is_spread_evenly_and_keeps_its_targets():
    task = task_of(long_table(900), ["y"])
    sample = sample_of(task, 100)
    assert list(sample.frame.index) == list(range(2, 902, 9))
    np.testing.assert_array_equal(sample.targets.values, sample.frame["y"].to_numpy())


def test_a_long_table_is_looked_at_and_a_short_one_not():
    settings = Settings(networks=6, nodes=40)
    assert first_look(task_of(long_table(900), ["y"]), settings) == []
    (line, *_) = first_look(task_of(long_table(20_001), ["y"]), settings)
    assert line.startswith(
        "first look, at 2,858 of 20,001 rows: half of the rows are predicted to within "
    )
    share = float(line.rsplit(", ", 1)[1].split("%")[0])
    assert 3 < share < 8
