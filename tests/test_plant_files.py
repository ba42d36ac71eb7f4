"""Files as plants have them are read right, or refused with the line and the remedy."""

from datetime import UTC

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mixed_files import mixed_file
from plant_files import FLOW, GRADE, NAMES, SIZE, TEMP, WHEN, PlantFile, plant_files, rows, text
from robustscn.tables import TableError, plan_columns, read_table, targets_of
from robustscn.tables.columns import as_numbers
from robustscn.tables.dates import moments_of

FILES = list(plant_files())
NUMBERS = {"flow": FLOW, "temp": TEMP, "size": SIZE}
MOMENTS = [moment.replace(tzinfo=UTC).timestamp() for moment in WHEN]


def used(file: PlantFile):
    """The table, what its columns are and its target, as `fit` takes them."""
    frame = read_table(file.content, **file.options)
    target = "size" if "size" not in file.without else "flow"
    targets = targets_of(frame, [target], to_learn=False)
    features = [name for name in frame.columns if name != target]
    return frame, plan_columns(frame[targets.known], features), targets


def test_there_are_many_of_them():
    assert len(FILES) >= 60
    assert len({file.name for file in FILES}) == len(FILES)


@pytest.mark.parametrize("file", [f for f in FILES if not f.refused], ids=lambda f: f.name)
def test_a_file_is_read_right(file):
    frame, plan, targets = used(file)
    assert len(frame) == len(WHEN)
    first = frame.columns[0]
    assert_allclose(moments_of(frame[first], first), MOMENTS, atol=1e-3)
    assert plan.dates == (first,)
    assert list(frame["grade"]) == GRADE
    assert plan.categories == ("grade",)
    for name, values in NUMBERS.items():
        if name in file.without:
            continue
        expected = np.array(values) * file.scaled.get(name, 1.0)
        expected[list(file.gaps.get(name, ()))] = np.nan
        assert_allclose(as_numbers(frame[name]), expected, rtol=1e-12)
        assert name in (*plan.numbers, *targets.names)
    assert frame.attrs["reading"]["units"] == file.units
    if file.first_line is not None:
        assert frame.index[0] == file.first_line
    notes = "\n".join([*frame.attrs["notes"], *plan.notes])
    for words in file.noted:
        assert words in notes


@pytest.mark.parametrize("file", [f for f in FILES if f.refused], ids=lambda f: f.name)
def test_a_file_is_refused_with_the_line_and_the_remedy(file):
    with pytest.raises(TableError) as error:
        used(file)
    for words in file.refused:
        assert words in str(error.value)


CODES = (
    ["grade 2", "grade 3", "grade 12"],
    ["2B", "2C", "3A"],
    ["1A", "2A", "3A"],
    ["5W30", "10W40", "0W20"],
    ["2 doors", "4 doors", "5 doors"],
    ["DN50", "DN80", "DN100"],
    ["10-20", "20-30", "30-40"],
    ["1st", "2nd", "3rd"],
    ["M8x20", "M8x25", "M10x20"],
    ["Good", "Bad", "No Data"],
    ["I/O", "on", "off"],
    ["Jan", "Feb", "Mar"],
    ["3G", "4G", "5G"],
    ["1/2", "3/4", "1/4"],
    ["08:00", "16:00", "24:00"],
)


@pytest.mark.parametrize("levels", CODES, ids=lambda levels: levels[0])
def test_codes_stay_levels(levels):
    table = rows(grade=lambda v: levels[GRADE.index(v) % len(levels)])
    for i, row in enumerate(table):
        row[3] = levels[i % 3]
    frame = read_table(text(table))
    assert list(frame["grade"]) == [levels[i % 3] for i in range(len(frame))]
    assert plan_columns(frame, NAMES[:4]).categories == ("grade",)


def test_what_is_ambiguous_in_new_rows_is_read_as_it_was_learned():
    learned = read_table(text(rows(flow=lambda v: f"{1000 * v:,.0f}")))
    one = read_table(b'flow,temp\r\n"1,234",2\r\n', like=learned.attrs["reading"])
    assert one["flow"].tolist() == [1234.0]
    other = read_table(text(rows(flow=lambda v: f"{v:.2f}".replace(".", ","))))
    one = read_table(b'flow,temp\r\n"1,234",2\r\n', like=other.attrs["reading"])
    assert one["flow"].tolist() == [1.234]


def test_another_unit_than_was_learned_is_an_error():
    learned = read_table(text(rows(flow=lambda v: f"{v} kg")))
    like = learned.attrs["reading"]
    assert read_table(b"flow,temp\n3 kg,1\n", like=like)["flow"].tolist() == [3.0]
    with pytest.raises(TableError, match="'flow' is in 'lb' here and was in 'kg'"):
        read_table(b"flow,temp\n3 lb,1\n", like=like)
    units = text(below=[["", "kg/h", "°F", "", "mm"]])
    like = read_table(text(below=[["", "kg/h", "°C", "", "mm"]])).attrs["reading"]
    with pytest.raises(TableError, match="'temp' is in '°F' here and was in '°C'"):
        read_table(units, like=like)


def test_numbers_of_a_table_in_memory_are_not_made_levels_in_silence():
    import pandas as pd

    from robustscn.tables import tidied

    frame = pd.DataFrame({"mass": [f"{v} kg" for v in FLOW]})
    with pytest.raises(TableError, match="'mass' holds numbers written for people"):
        plan_columns(frame, ["mass"])
    tidy, _, _ = tidied(frame)
    assert plan_columns(tidy, ["mass"]).numbers == ("mass",)


def test_lines_are_counted_past_blank_ones():
    frame = read_table(b"flow,size\n1,2\n\n\n3,4\n")
    assert list(frame.index) == [2, 5]


REMEDIES = ("--", "correct", "save the", "give ", "one unit", "write ")


@pytest.mark.parametrize("seed", range(60))
def test_ways_of_writing_drawn_together_are_read_right_or_refused(seed):
    file = mixed_file(seed)
    try:
        frame = read_table(file.content)
        targets = targets_of(frame, ["size"], to_learn=False)
        plan = plan_columns(frame, [name for name in frame.columns if name != "size"])
    except TableError as error:
        words = str(error)
        assert "line" in words or "'" in words, (file.said, words)
        assert any(remedy in words for remedy in REMEDIES), (file.said, words)
        return
    assert len(frame) == len(file.grade), file.said
    if not any("would fit as well" in note for note in plan.notes):  # 01/09, and it is said
        moments = moments_of(frame["when"], "when")
        assert_allclose(moments, file.moments, atol=1, err_msg=file.said)
    assert list(frame["grade"]) == file.grade, file.said
    assert plan.categories == ("grade",), file.said
    for name, values in file.numbers.items():
        assert_allclose(as_numbers(frame[name]), values, rtol=1e-12, err_msg=file.said)
    assert np.array_equal(targets.known, np.isfinite(file.numbers["size"])), file.said
    assert frame.attrs["reading"]["units"] == file.units, file.said


def test_few_of_the_drawn_files_are_refused():
    def refused(seed):
        try:
            read_table(mixed_file(seed).content)
        except TableError:
            return True
        return False

    assert sum(refused(seed) for seed in range(60)) <= 6
