"""What the paper's experiments gave: published figures, tables, claims, the page."""

import copy
import json
import os
import re
from collections import Counter
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from paper_plan import SMALL, TINY
from robustscn.paper import blocks as page_blocks
from robustscn.paper import figures
from robustscn.paper.cells import NEEDED
from robustscn.paper.claims import (
    KINDS,
    Claim,
    best_everywhere,
    claims,
    columns_met,
    counted,
    keel_errors,
    many_nodes_hurt,
    ours_without_clean_rows,
    paper_level,
)
from robustscn.paper.draws import FIRST_SEED
from robustscn.paper.figures import CAPTIONS, drawn_figures
from robustscn.paper.fingerprint import nearest_split
from robustscn.paper.page import blocks, write_page
from robustscn.paper.published import table_5, tables
from robustscn.paper.results import Results, part_name, summarised
from robustscn.paper.runner import (
    Plan,
    favourite_cells,
    honest_cell,
    nearest_choice,
)
from robustscn.paper.settings import (
    FIXED_SPLITS,
    FUNCTION,
    GRINDING,
    KEEL,
    ROUND_LEVELS,
    ROUND_SIZES,
    ROUNDS,
    TABLE_LEVELS,
    Experiment,
    ablations,
    experiments,
    narrowed,
    quick,
    treasury_tries,
)
from robustscn.paper.store import Store
from robustscn.paper.tables import all_tables
from robustscn.paper.units import BASELINES, HONEST, ON_TEST, cell_name, grid

pytestmark = pytest.mark.evidence

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
WHOLE = {
    **{"headline": 1, "table1": 1, "table2": 1, "table3": 1, "table4": 1, "table5": 3},
    **{"treasury": 1, "fixed": 2, "cross-validation": 6, "choices": 1, "replace": 1},
    **{"deviations": 5, "trials": 1},
}
"""How many tables a page of everything has."""
needs_keel = pytest.mark.skipif(
    "ROBUSTSCN_DATA" not in os.environ, reason="ROBUSTSCN_DATA names no folder of KEEL files"
)


# --- the paper's own figures -----------------------------------------------------------------


def test_published_tables_are_whole():
    found = tables()
    methods = {"RVFL", "Improved RVFL", "PRNNRW", "RSC-KDE"}
    for task, scopes in (("function", (1, 30, 50, 150)), ("grinding", (0.1, 0.5, 1, 5))):
        keys = {key for key in found if key[0] == task}
        assert keys == {(task, s, m, lv) for s in scopes for m in methods for lv in TABLE_LEVELS}
    for task in KEEL:
        keys = {key for key in found if key[0] == task.name}
        assert keys == {(task.name, None, m, lv) for m in methods for lv in TABLE_LEVELS}
    assert len(found) == 2 * 64 + 4 * 16
    assert set(table_5()) == {
        (lv, r, n) for lv in ROUND_LEVELS for r in ROUNDS for n in ROUND_SIZES
    }


def test_published_figures_that_are_known():
    known = [tables()["function", 1.0, "RSC-KDE", level].mean for level in TABLE_LEVELS]
    assert known == [0.0090, 0.0098, 0.0104, 0.0117]
    assert tables()["function", 1.0, "RVFL", 0.10] == (0.0463, 2e-5)
    assert tables()["treasury", None, "RSC-KDE", 0.10].mean == 0.0084
    assert tables()["grinding", 5.0, "PRNNRW", 0.25].mean == 0.0022
    assert table_5()[0.30, 12, 80].mean == 0.2308
    assert table_5()[0.10, 5, 20].mean == 0.0009


# --- results, tables, claims, page -----------------------------------------------------------


def _summary(mean, n=5):
    return [mean, mean / 10, mean, n]


def _paired(means):
    return {
        "trials": 5,
        "rmse": {name: _summary(mean) for name, mean in means.items()},
        "each": {name: [mean] * 5 for name, mean in means.items()},
    }


def _layers_of(task, mean):
    cells = {cell_name(cell): _summary(mean) for cell in grid(Experiment(task))}
    size = task.sizes[1]
    favourite = {m: {f"{s:g}": cell_name((m, s, size)) for s in task.scopes} for m in BASELINES}
    lowest = {m: cell_name((m, task.scopes[1], size)) for m in BASELINES}
    return {
        "trials": 5,
        "rmse": cells,
        "favourite": favourite,
        "lowest": lowest,
        "honest": _honest_of(task),
        "splits": {"RVFL": [mean] * 5, "PRNNRW": [mean] * 5},
    }


def _honest_of(task):
    return {m: cell_name((m, task.scopes[0], task.sizes[0])) for m in BASELINES}


@pytest.fixture(scope="module")
def record():
    """Results of a run in which RSC-KDE always has 0.01, ours 0.008, the others 0.02."""
    parts = {}
    for experiment in experiments():
        task = experiment.task
        for level in experiment.levels:
            part = parts.setdefault(part_name(experiment.name, level), {})
            means = {"RSC-KDE": 0.01}
            if experiment.data == "redrawn" and level in TABLE_LEVELS:
                means["oracle"] = 0.005
            sizes = {"rows": [6, 3, 1], "n_inputs": 2}
            part["rsc-kde"] = _paired(means) | sizes
            part["layers"] = _layers_of(task, 0.02)
            if level in TABLE_LEVELS:
                part["choice"] = {"rho": 0.01, "honest": _honest_of(task)}
                add = experiment.protocol == "add"
                if add and task != GRINDING and (task != FUNCTION or experiment.data == "redrawn"):
                    part["literal"] = _paired({HONEST: 0.015, ON_TEST: 0.009})
                if experiment.data == "redrawn":
                    part["ours"] = _paired({"RobustSCN": 0.008})
    for level in ROUND_LEVELS:
        rmse = {f"{r} | {n}": _summary(n / 1000) for r in ROUNDS for n in ROUND_SIZES}
        parts[f"grinding-add-redrawn {round(100 * level)}"]["rounds"] = {"trials": 5, "rmse": rmse}
    parts["function-add-redrawn 30"]["literal"] = _paired({HONEST: 0.015, ON_TEST: 0.009})
    for percent in (10, 25):
        rmse = {name: _summary(0.03) for name in ablations()}
        parts[f"function-add-redrawn {percent}"]["ablation"] = {"trials": 5, "rmse": rmse}
    for data in ("redrawn", "fixed"):
        for percent in (10, 20):
            rmse = {name: _summary(0.0095) for name in treasury_tries()}
            parts[f"treasury-add-{data} {percent}"]["treasury"] = {"trials": 5, "rmse": rmse}
    for name in ("function-add-redrawn 25", "grinding-add-redrawn 30"):
        rows = {"x": [0.0, 1.0], "y": [0.0, 9.0], "x_test": [0.0, 1.0], "truth": [0.0, 0.5]}
        methods = ("RVFL", "Improved RVFL", "PRNNRW", "RSC-KDE", "RobustSCN")
        predictions = {m: [0.1, 0.4] for m in methods}
        parts[name]["curves"] = {"rows": rows, "wrong": [1], "predictions": predictions}
    for groups in parts.values():
        for group in groups.values():
            group["seconds"] = 20.0
    return {"parts": parts}


@pytest.fixture
def results(record):
    return Results(copy.deepcopy(record))


def row_of(table, *words):
    """The only row with these words in its first columns, as a dict by column."""
    found = [row for row in table.rows if set(words) <= set(row[:2])]
    (row,) = found
    return dict(zip(table.columns, row, strict=True))


def test_tables_are_paper_ours_ratio(results):
    found = all_tables(results)
    assert {name: len(parts) for name, parts in found.items()} == WHOLE
    table = found["table1"][0]
    assert "protocol add, redrawn data" in table.title
    row = row_of(table, "RSC-KDE, our settings")
    for level, printed in zip(TABLE_LEVELS, (0.0090, 0.0098, 0.0104, 0.0117), strict=True):
        assert row[f"{level:.0%} paper"] == f"{printed:.4f}"
        assert row[f"{level:.0%} ours"] == f"0.0100 ({0.01 / printed:.2f})"
    row = row_of(table, "1", "RVFL")
    assert row["10% paper"] == "0.0463"
    assert row["10% ours"] == f"0.0200 ({0.02 / 0.0463:.2f})"
    assert (
        row_of(table, "RSC-KDE divided by the oracle: means of the same trials")["10% ours"]
        == "2.00"
    )
    assert row_of(found["cross-validation"][0], "RVFL")["10% ours"] == "0.0200"
    spread = row_of(found["deviations"][0], "1", "RVFL")
    assert (spread["10% paper"], spread["10% ours"]) == ("2e-05", "0.0020")


def test_first_table_is_rsc_kde_alone(results):
    (table,) = all_tables(results)["headline"]
    assert len(table.rows) == 5 * len(TABLE_LEVELS) + 1, "four sets, the function, and 30 %"
    first, last = table.rows[0], table.rows[-1]
    assert first == [
        *("stock", "10%", "0.0317", "0.0150 (0.0150)", "0.47"),
        *("0.0100 (0.0100)", "0.32", "0.0090 (0.0090)", "0.28"),
    ]
    assert last[1:3] == ["30%", "0.0138"], "which stands in the text alone"
    content = blocks(results, ())
    assert [type(b) for b in content[:3]] == [page_blocks.Heading, page_blocks.Text, type(table)]
    assert content[2] == table


def test_long_tables_are_one_click_away(results):
    """But for the first one: what is open on the page can be read in ten minutes."""
    content = blocks(results, ())
    folded = [table for b in content if isinstance(b, page_blocks.Folded) for table in b.blocks]
    shown = [block for block in content if isinstance(block, page_blocks.Table)]
    every = [table for parts in all_tables(results).values() for table in parts]
    assert sorted(table.title for table in (*folded, *shown)) == sorted(t.title for t in every)
    assert max(len(table.rows) for table in shown[1:]) <= 10
    assert not {id(t) for t in all_tables(results)["deviations"]} & {id(t) for t in shown}
    for text in (page_blocks.markdown(content), page_blocks.html(content)):
        outside = re.sub("<details.*?</details>", "", text, flags=re.S)
        for table in folded:
            title = escape(table.title) if "<table>" in text else table.title
            assert title in text
            assert title not in outside


def test_what_is_folded_is_still_read_as_markdown():
    """A table within HTML is one only between blank lines."""
    table = page_blocks.Table("numbers", ["a", "method"], [["1", "2"]])
    lines = page_blocks.Folded("a < b", [table]).markdown().splitlines()
    assert lines[:3] == [
        '<details class="folded"><summary>a &lt; b</summary>',
        "",
        "**numbers**",
    ]
    assert lines[-2:] == ["", "</details>"]


def test_trials_are_counted_from_the_results(results):
    part = results.record["parts"]["stock-add-redrawn 20"]
    part["rsc-kde"]["trials"] = 9
    part["rsc-kde"]["each"]["oracle"] = [0.005] * 3
    results.record["parts"]["grinding-add-redrawn 0"]["rounds"]["trials"] = 8
    (table,) = all_tables(results)["trials"]
    row = row_of(table, "stock")
    assert row["the paper"] == "50"
    assert row["RSC-KDE, our settings"] == "5 to 9"
    assert row["its oracle"] == "3 to 5"
    assert row["RobustSCN"] == "5"
    assert row_of(table, "grinding")["RSC-KDE, literal and on test rows"] == "-"
    assert "Table 5 5 to 8" in page_blocks.markdown(blocks(results, ()))


def test_splits_of_treasury_are_counted(results):
    """0.0084 is printed at 10 %: two of these five are at or below it."""
    parts = [results.record["parts"][f"treasury-add-redrawn {n}"] for n in (10, 15, 20, 25)]
    for part in parts:
        part["literal"]["each"][ON_TEST] = [0.01, 0.0083, 0.02, 0.02, 0.02]
        part["layers"]["splits"] = {m: [0.02, 1.0, 0.02, 0.02, 0.02] for m in BASELINES[:3:2]}
    parts[0]["literal"]["each"][ON_TEST] = [0.0085, 0.0083, 0.0084, 0.01, 0.02]
    text = page_blocks.markdown(blocks(results, ()))
    assert "2 of 5 at 10%, 1 of 5 at 15%, 1 of 5 at 20%, 2 of 5 at 25%, and 1 at each" in text
    columns = [tables()["treasury", None, m, s].mean for m in BASELINES[:3:2] for s in TABLE_LEVELS]
    far = np.mean([abs(1.0 / printed - 1) for printed in columns])
    assert f"errors of that split are {far:.1%} off" in text, "of split 1, not of another"
    assert "In 4 of 4 cases even training without the wrong rows" in text, "0.0095 each"


def test_what_was_chosen_on_the_test_rows_is_never_called_a_result(results):
    """Each row or column of such errors says what it is."""
    text = page_blocks.markdown(blocks(results, ()))
    for line in text.splitlines():
        if "chosen on the test rows" in line and line.startswith("|"):
            assert NEEDED in line, line
    (table,) = all_tables(results)["headline"]
    assert NEEDED in table.columns


def test_table_2_is_counted(results):
    (table,) = all_tables(results)["table2"]
    assert table.rows[0] == ["stock", "950", "10", "6 + 3 + 1", "9", "2"]


def test_no_table_is_wider_than_a_screen(results):
    """145 characters of 13 pixels, seven of them wide, are a thousand pixels."""
    for page in (results, Results.read(PAGE / "results.json")):
        for parts in all_tables(page).values():
            for table in parts:
                assert table.width <= 145, (table.title, table.width)


def test_simulated_and_private_data_are_not_divided(results):
    for table in (*all_tables(results)["table4"], *all_tables(results)["table5"]):
        for row in table.rows:
            assert not any("(" in cell for cell in row[2:]), row


def test_table_1_takes_the_cell_that_is_best_by_test_error(results):
    name = part_name(Experiment(FUNCTION).name, 0.15)
    layers_done = results.record["parts"][name]["layers"]
    layers_done["favourite"]["PRNNRW"]["50"] = "PRNNRW | 50 | 200"
    layers_done["rmse"]["PRNNRW | 50 | 200"] = _summary(0.0444)
    row = row_of(all_tables(results)["table1"][0], "50", "PRNNRW (rho 10)")
    assert row["15% ours"].startswith("0.0444 (")
    assert row["10% ours"].startswith("0.0200")


def test_table_3_and_5(results):
    table = all_tables(results)["table3"][0]
    stock = [row for row in table.rows if row[0] == "stock"]
    assert len(stock) == 1
    printed = tables()["stock", None, "RVFL", 0.10].mean
    first = dict(zip(table.columns, stock[0], strict=True))
    assert first["method"] == "RVFL"
    assert first["10% ours"] == f"0.0200 ({0.02 / printed:.2f})"
    last = all_tables(results)["table5"][2]
    row = row_of(last, "12")
    assert row["L=80 paper"] == "0.2308"
    assert row["L=80 ours"] == "0.0800"


@pytest.mark.parametrize(
    ("task", "table"), [(FUNCTION, "table1"), (KEEL[0], "table3"), (GRINDING, "table4")]
)
def test_what_was_run_is_shown_whatever_the_protocol(task, table):
    """`--protocol replace` may be asked for with any task."""
    name = part_name(Experiment(task, "replace").name, 0.10)
    part = {"rsc-kde": _paired({"RSC-KDE": 0.0123}), "layers": _layers_of(task, 0.02)}
    (found,) = all_tables(Results({"parts": {name: part}}))["replace"]
    assert table in found.title.lower().replace(" ", "")
    assert "replace" in found.title
    assert "0.0123" in found.markdown()


def test_no_results_no_tables():
    empty = Results({"parts": {}})
    assert all(parts == [] for parts in all_tables(empty).values())
    assert all(claim.cases == 0 for claim in claims(empty))
    for claim in claims(empty):
        assert claim.verdict == ("not run" if claim.testable else "not testable here")


def test_results_are_written_and_read_back(results, tmp_path):
    results.write(tmp_path / "results.json")
    assert Results.read(tmp_path / "results.json") == results


def test_summaries_are_means_over_trials(in_one_go):
    store = Store(in_one_go[0], {SMALL.name: SMALL})
    found = Results(json.loads(json.dumps(summarised(store))))
    experiment = TINY.experiments[0]
    name, done = experiment.name, store.trials(experiment, 0.10, "layers")
    for method in BASELINES:
        cell = found.lowest(name, 0.10, method)
        errors = [trial["rmse"][cell_name(cell)] for trial in done.values()]
        assert len(errors) == found.cell(name, 0.10, cell).n == 7
        assert found.cell(name, 0.10, cell).mean == pytest.approx(np.mean(errors), rel=1e-4)
        assert found.cell(name, 0.10, cell).std == pytest.approx(np.std(errors), rel=1e-4)
        best = favourite_cells(store, experiment, 0.10, method)
        assert {s: found.favourite(name, 0.10, method, s) for s in SMALL.scopes} == best
        assert found.honest(name, 0.10, method) == honest_cell(store, experiment, 0.10, method)
    assert found.group(name, 0.10, "layers")["data_seeds"] == [FIRST_SEED, FIRST_SEED + 6]
    assert found.seconds == pytest.approx(
        sum(
            trial["seconds"]
            for level in experiment.levels
            for group in TINY.groups
            for trial in store.trials(experiment, level, group).values()
        ),
        abs=0.05 * len(experiment.levels) * len(TINY.groups),
    )


def test_earlier_results_stay_where_they_had_more_trials_or_were_not_run_again():
    def part(**trials):
        return {group: {"trials": n, "seconds": 1.0} for group, n in trials.items()}

    earlier = Results({"parts": {"a 10": part(ours=6, literal=25), "b 10": part(ours=3)}})
    now = Results({"parts": {"a 10": part(ours=50, literal=5), "c 10": part(ours=2)}})
    both = now.after(earlier)
    counts = {
        name: {group: found["trials"] for group, found in groups.items()}
        for name, groups in both.record["parts"].items()
    }
    assert counts == {"a 10": {"ours": 50, "literal": 25}, "b 10": {"ours": 3}, "c 10": {"ours": 2}}
    assert both.seconds == 4.0
    again = now.after(now).record["parts"]["a 10"]["ours"]
    assert again is now.record["parts"]["a 10"]["ours"], "a new run of as many takes the place"


def test_choice_made_at_another_share_is_named_where_it_served(in_one_go):
    """0.20 takes the cell that was chosen at 0.10: a table of 0.20 has to show it."""
    store, experiment = Store(in_one_go[0], {SMALL.name: SMALL}), TINY.experiments[0]
    found = Results(summarised(store))
    for method in BASELINES:
        cell = found.honest(experiment.name, 0.20, method)
        assert cell == honest_cell(store, experiment, 0.20, method)
        assert found.cell(experiment.name, 0.20, cell).n == 7


def test_a_trial_is_the_same_whatever_was_asked_for_with_it():
    """The prior that a level's trials are run with must not depend on options, or files mix."""
    for asked in (quick(experiments()), narrowed(experiments(), (0.05, 0.10))):
        for few in asked:
            full = next(e for e in experiments() if e.name == few.name)
            for level in few.levels:
                assert nearest_choice(few, level) == nearest_choice(full, level)


def test_a_claim_that_holds_and_one_that_fails(results):
    assert (best_everywhere(results).holds, best_everywhere(results).cases) == (16, 16)
    assert best_everywhere(results).sentence().endswith("holds.")
    laser = results.record["parts"]["laser-add-redrawn 20"]
    laser["layers"]["rmse"][laser["layers"]["lowest"]["PRNNRW"]] = _summary(0.0099)
    found = best_everywhere(results)
    assert (found.holds, found.cases) == (15, 16)
    assert "holds in 15 of 16 cases" in found.sentence()
    assert "laser 20% (0.0100, PRNNRW 0.0099)" in found.detail
    assert Claim("It rains", 0, 3).sentence() == "It rains: does not hold."


def test_claim_about_the_papers_level(results):
    found = paper_level(results, "add", "redrawn")  # 0.01 against 0.009, 0.0098, 0.0104, 0.0117
    assert (found.holds, found.cases) == (3, 5), "and 0.0138 at 30 %"
    assert "10% 0.0150" in found.detail, "the literal algorithm's error is named"
    fixed = results.record["parts"]["function-add-fixed 10"]
    fixed["rsc-kde"]["rmse"]["RSC-KDE"] = _summary(0.0089)
    found = paper_level(results, "add", "fixed")
    assert (found.holds, found.cases) == (3, 4)
    assert "10% 0.0089, paper 0.0090" in found.detail


def test_claim_about_keel_errors_counts_honestly(results):
    """0.01 is at or below what is printed for stock, laser and concrete and once for treasury."""
    found = keel_errors(results)
    assert (found.holds, found.cases) == (13, 16)
    assert "Literal settings: 12 of 16" in found.detail, "0.015: all but treasury"
    assert f"{NEEDED}: 14 of 16" in found.detail


def test_claims_are_counted_by_kind_and_untestable_ones_apart(results):
    found = claims(results)
    assert {claim.kind for claim in found} == set(KINDS)
    text = page_blocks.markdown(blocks(results, ()))
    for kind, title in KINDS.items():
        these = [claim for claim in found if claim.kind == kind]
        assert f"### {title}\n\n{counted(these)}" in text
    sample = [
        Claim("a", 2, 2),
        Claim("b", 1, 2),
        Claim("c", 0, 2),
        Claim("d", 1, 1, testable=False),
    ]
    assert counted(sample) == "1 of 3 hold in full, 1 in part, 1 not; 1 not testable here."
    plant = [claim for claim in found if "plant" in claim.text]
    assert len(plant) == 3
    assert all("not testable here" in claim.sentence() for claim in plant)


def test_claim_about_a_column_names_where_it_is_missed(results):
    for task in KEEL:
        for level in TABLE_LEVELS:
            layers = results.record["parts"][part_name(Experiment(task).name, level)]["layers"]
            printed = tables()[task.name, None, "RVFL", level].mean
            off = 1.2 if (task.name, level) == ("laser", 0.15) else 1.05
            layers["rmse"][layers["lowest"]["RVFL"]] = _summary(off * printed)
    found = columns_met(results, "RVFL")
    assert (found.holds, found.cases) == (15, 16)
    assert "laser 15% 1.20" in found.detail


def test_claim_about_a_column_has_the_ratios_of_the_table(results):
    """Where a few trials carry the mean, the table has the median: the claim must not differ."""
    layers = results.record["parts"]["laser-add-redrawn 15"]["layers"]
    printed = tables()["laser", None, "RVFL", 0.15].mean
    layers["rmse"][layers["lowest"]["RVFL"]] = [5 * printed, 9 * printed, 1.3 * printed, 5]
    rows = all_tables(results)["table3"][0].rows
    laser = next(k for k, row in enumerate(rows) if row[0] == "laser")
    assert any("m (1.30)" in cell for cell in rows[laser])
    assert "laser 15% 1.30" in columns_met(results, "RVFL").detail


def test_nearest_split_is_the_one_with_the_printed_columns(results):
    """Split 3 has the printed errors but for one percent; all others are a fifth off."""
    for level in TABLE_LEVELS:
        part = results.record["parts"][part_name(Experiment(KEEL[1]).name, level)]
        for method, errors in part["layers"]["splits"].items():
            printed = tables()["laser", None, method, level].mean
            errors[:] = [1.2 * printed, 0.8 * printed, 1.2 * printed, 1.01 * printed, printed * 1.2]
    found = nearest_split(results, KEEL[1])
    assert (found.number, found.candidates) == (3, 5)
    assert found.distance == pytest.approx(0.01)
    assert found.usual == pytest.approx(0.2)


def test_methods_are_compared_on_the_trials_that_both_ran(results):
    part = results.record["parts"]["function-add-redrawn 10"]
    part["rsc-kde"]["each"]["RSC-KDE"] = [0.001, 0.003, 9.0]
    part["ours"]["each"]["RobustSCN"] = [0.002, 0.004]
    shared = results.shared("function-add-redrawn", 0.10, "RobustSCN", "RSC-KDE")
    assert shared == pytest.approx((0.003, 0.002))
    assert "function 10% (0.0030, 0.0020)" in ours_without_clean_rows(results).detail
    assert results.shared("function-add-fixed", 0.10, "RobustSCN", "RSC-KDE") is None


def test_claim_that_many_nodes_hurt(results):
    found = many_nodes_hurt(results)  # 80 nodes have eight times the error of 10
    assert (found.holds, found.cases) == (6, 6)
    assert "8.0 to 8.0 times" in found.detail
    rmse = results.record["parts"]["grinding-add-redrawn 30"]["rounds"]["rmse"]
    rmse |= {f"{r} | 80": _summary(0.011) for r in ROUNDS}
    assert many_nodes_hurt(results).holds == 0


class Balanced(HTMLParser):
    """Notes each tag that is closed out of order and counts the others."""

    VOID = ("meta", "img", "br", "hr", "link", "input")

    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.count = [], [], Counter()

    def handle_starttag(self, tag, attrs):
        self.count[tag] += 1
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


def parsed(text):
    parser = Balanced()
    parser.feed(text)
    parser.close()
    assert parser.open == parser.wrong == []
    return parser.count


def test_page_is_well_formed_and_whole(results):
    content = blocks(results, tuple(CAPTIONS))
    count = parsed(page_blocks.html(content))
    assert count["table"] == sum(WHOLE.values())
    assert count["img"] == len(CAPTIONS) == 6
    assert count["html"] == count["h1"] == 1
    text = page_blocks.markdown(content)
    for table in [t for parts in all_tables(results).values() for t in parts]:
        lines = table.markdown().splitlines()[2:]
        assert {line.count("|") for line in lines} == {len(table.columns) + 1}
        assert table.markdown() in text
    for claim in claims(results):
        assert claim.sentence() in text


def test_what_is_to_be_typed_is_code_in_both_forms():
    for block in (page_blocks.Text("ask `a <b>` twice"), page_blocks.Points(["ask `a <b>` twice"])):
        assert "`a <b>`" in block.markdown()
        assert "<code>a &lt;b&gt;</code>" in block.html()


def test_page_escapes():
    table = page_blocks.Table("<i> & co", ["a<b", "method"], [["<script>", '"&"']])
    content = [page_blocks.Heading(1, "1 < 2"), table, page_blocks.Picture("x", 'a "<b>"')]
    text = page_blocks.html(content)
    assert parsed(text)["script"] == 0
    for raw in ("<script>", "a<b", "<i>", '"<b>"', "1 < 2"):
        assert raw not in text
    assert "&lt;script&gt;" in text


def test_page_follows_the_record(results):
    """Nothing typed by hand: another number in the record, another page."""
    before = page_blocks.markdown(blocks(results, ()))
    changes = {
        ("function-add-redrawn 10", "rsc-kde", "RSC-KDE"): "0.7771",
        ("treasury-add-redrawn 25", "layers", None): "0.7772",
        ("stock-add-fixed 15", "rsc-kde", "RSC-KDE"): "0.7773",
        ("grinding-add-redrawn 30", "rounds", "12 | 80"): "0.7774",
        ("function-add-redrawn 25", "ablation", "ours, no ridge"): "0.7775",
        ("laser-add-redrawn 15", "literal", ON_TEST): "0.7777",
        ("treasury-add-fixed 20", "treasury", "half of them choose"): "0.7778",
        ("stock-add-redrawn 10", "ours", "RobustSCN"): "0.7776",
    }
    for (part, group, method), value in changes.items():
        found = results.record["parts"][part][group]
        found["rmse"][method or found["lowest"]["PRNNRW, tuned"]] = _summary(float(value))
    after = page_blocks.markdown(blocks(results, ()))
    for value in changes.values():
        assert value not in before
        assert value in after


def test_simulated_tables_and_figures_say_so(results):
    found = all_tables(results)
    for table in (*found["table4"], *found["table5"]):
        assert "simulated" in table.title.lower()
    for name in ("figure4", "figure5", "figure6"):
        assert "simulated" in CAPTIONS[name].lower()


def test_simulated_claims_say_so(results):
    for claim in claims(results):
        if claim.kind == "paper" and ("Table 4" in claim.text or "Table 5" in claim.text):
            assert "simulated" in claim.text.lower(), claim.text


def test_page_says_how_many_trials_there_were(results):
    """From the results: a page of five trials that speaks of other numbers is wrong."""
    pages = []
    for count in (5, 37):
        text = json.dumps(results.record).replace('"trials": 5', f'"trials": {count}')
        pages.append(page_blocks.markdown(blocks(Results(json.loads(text)), ())))
    assert pages[0] != pages[1]
    assert "37" in pages[1]


# --- figures ---------------------------------------------------------------------------------


@pytest.fixture
def drawing():
    """Leave the settings of matplotlib as they were."""
    with matplotlib.rc_context():
        yield


@pytest.mark.usefixtures("drawing")
def test_page_is_written_with_its_figures_and_what_it_was_made_from(results, tmp_path):
    written = write_page(results, tmp_path / "all")
    assert {p.name for p in written} == {"index.html", "README.md", "results.json"}
    pictures = {f"{name}.{kind}" for name in CAPTIONS for kind in ("svg", "png")}
    assert {p.name for p in (tmp_path / "all").iterdir()} == pictures | {p.name for p in written}
    page = {p.name: p.read_text(encoding="utf-8") for p in written}
    content = blocks(Results.read(tmp_path / "all" / "results.json"), tuple(CAPTIONS))
    assert page["README.md"] == page_blocks.markdown(content)
    assert page["index.html"] == page_blocks.html(content)

    results.record["parts"] = {
        name: {"curves": part["curves"]}
        for name, part in results.record["parts"].items()
        if "curves" in part
    }
    assert drawn_figures(results, tmp_path / "some") == ["figure1", "figure4", "figure6"]
    for name in ("figure1", "figure6"):  # the same picture each time
        one, two = (tmp_path / folder / f"{name}.svg" for folder in ("all", "some"))
        assert one.read_bytes() == two.read_bytes()


@pytest.mark.usefixtures("drawing")
def test_what_lies_beyond_an_axis_is_marked_at_its_edge():
    import matplotlib.pyplot as plt

    _, axis = plt.subplots()
    figures._within(axis, [0, 1, 2, 3], [0.0, 5.0, -7.0, 0.5], (-1.0, 1.0), color="black")
    inside, above, below = axis.lines
    assert np.isnan(inside.get_ydata()).tolist() == [False, True, True, False]
    assert (above.get_xdata().tolist(), above.get_ydata().tolist()) == ([1], [1.0])
    assert (below.get_xdata().tolist(), below.get_ydata().tolist()) == ([2], [-1.0])
    plt.close("all")


@pytest.mark.usefixtures("drawing")
def test_panels_are_in_one_order_with_axes_that_compare(results):
    import matplotlib.pyplot as plt

    names = list(figures.COLOURS)
    one, six = figures._figure_1(plt, results), figures._figure_6(plt, results)
    assert [axis.get_title() for axis in one.axes] == ["training rows", *names]
    assert [axis.get_title().split(",")[0] for axis in six.axes] == names
    truth = results.group("grinding-add-redrawn", 0.30, "curves")["rows"]["truth"]
    low, high = six.axes[0].get_ylim()
    assert low < min(truth) < max(truth) < high, "nothing of the truth is cut off"
    cells = results.record["parts"]["function-add-redrawn 20"]["layers"]["rmse"]
    cells["RVFL | 30 | 100"] = _summary(2.0)
    two = figures._by_scope(plt, results, FUNCTION, (1.0, 30.0, 50.0, 100.0))
    assert len({axis.get_ylim() for axis in two.axes}) == 1
    two.canvas.draw()
    labels = [label.get_text() for label in two.axes[0].get_yticklabels()]
    assert "0.02" in labels, "errors as the tables have them, no powers of ten"
    plt.close("all")


@pytest.mark.usefixtures("drawing")
def test_every_error_lies_within_the_axis_of_its_figure(results):
    """RVFL a thousand times worse than the others is still drawn, and its bar."""
    import matplotlib.pyplot as plt

    cells = results.record["parts"]["function-add-redrawn 20"]["layers"]["rmse"]
    cells["RVFL | 30 | 100"] = [10.0, 30.0, 1.0, 5]
    figure = figures._by_scope(plt, results, FUNCTION, (1.0, 30.0, 50.0, 100.0))
    low, high = figure.axes[1].get_ylim()
    assert low < 0.008
    assert high > 40.0
    plt.close("all")


# --- the page that is committed --------------------------------------------------------------


@pytest.mark.usefixtures("drawing")
def test_committed_page_is_what_its_results_make(tmp_path):
    results = Results.read(PAGE / "results.json")
    there = [name for name in CAPTIONS if (PAGE / f"{name}.svg").exists()]
    content = blocks(results, there)
    assert (PAGE / "README.md").read_text(encoding="utf-8") == page_blocks.markdown(content)
    assert (PAGE / "index.html").read_text(encoding="utf-8") == page_blocks.html(content)
    assert drawn_figures(results, tmp_path) == there == list(CAPTIONS)
    committed = {p.name for p in PAGE.iterdir() if p.suffix in (".svg", ".png")}
    assert committed == {p.name for p in tmp_path.iterdir()}


def test_committed_page_has_every_table_claim_and_the_nearest_splits():
    results = Results.read(PAGE / "results.json")
    assert {name: len(parts) for name, parts in all_tables(results).items()} == WHOLE
    assert all(claim.cases > 0 for claim in claims(results))
    for task in KEEL:
        assert nearest_split(results, task).number == FIXED_SPLITS[task.name]


@pytest.mark.xfail(reason="the page is of a shorter run, and says so; make reproduce runs it whole")
def test_committed_page_is_of_a_full_run():
    results = Results.read(PAGE / "results.json")
    for experiment in experiments():
        for level in experiment.levels:
            error = results.error(experiment.name, level, "RSC-KDE")
            assert error is not None
            assert error.n == Plan((experiment,), ()).n_trials(experiment, level, "rsc-kde")
            ours = results.error(experiment.name, level, "RobustSCN")
            if experiment.protocol == "add" and ours:
                assert ours.n == experiment.task.trials, "the paper's number"
