"""What the paper's experiments gave: published figures, tables, claims, the page."""

import copy
import json
import os
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import matplotlib
import numpy as np
import pytest

from paper_plan import SMALL, TINY
from robustscn.paper import blocks as page_blocks
from robustscn.paper.claims import (
    Claim,
    best_everywhere,
    claims,
    many_nodes_hurt,
    ours_without_clean_rows,
    paper_level,
)
from robustscn.paper.draws import FIRST_SEED
from robustscn.paper.figures import CAPTIONS, drawn_figures
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
)
from robustscn.paper.store import Store
from robustscn.paper.tables import all_tables
from robustscn.paper.units import BASELINES, cell_name, grid

pytestmark = pytest.mark.evidence

PAGE = Path(__file__).parents[1] / "docs" / "reproduction"
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
            part["rsc-kde"] = _paired({"RSC-KDE": 0.01, "oracle": 0.005})
            part["layers"] = _layers_of(task, 0.02)
            if level in TABLE_LEVELS:
                part["choice"] = {"rho": 0.01, "honest": _honest_of(task)}
                if experiment.data == "redrawn":
                    part["ours"] = _paired({"RobustSCN": 0.008})
    for level in ROUND_LEVELS:
        rmse = {f"{r} | {n}": _summary(n / 1000) for r in ROUNDS for n in ROUND_SIZES}
        parts[f"grinding-add-redrawn {round(100 * level)}"]["rounds"] = {"trials": 5, "rmse": rmse}
    for protocol in ("add", "replace"):
        for percent in (10, 25):
            part = parts[f"function-{protocol}-redrawn {percent}"]
            rmse = {name: _summary(0.03) for name in ablations()}
            part["ablation"] = {"trials": 5, "rmse": rmse}
            part["literal"] = _paired({"RSC-KDE, literal": 0.015})
    for name in ("function-add-redrawn 25", "grinding-add-redrawn 30"):
        rows = {"x": [0.0, 1.0], "y": [0.0, 9.0], "x_test": [0.0, 1.0], "truth": [0.0, 0.5]}
        methods = ("RVFL", "Improved RVFL", "PRNNRW", "RSC-KDE", "RobustSCN")
        predictions = {m: [0.1, 0.4] for m in methods}
        parts[name]["curves"] = {"rows": rows, "wrong": [1], "predictions": predictions}
    return {"seconds": 6000, "parts": parts}


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
    assert {name: len(parts) for name, parts in found.items()} == {
        "table1": 4,
        "table3": 2,
        "table4": 2,
        "table5": 3,
        "choices": 1,
    }
    table = found["table1"][0]
    assert "protocol add, redrawn data" in table.title
    row = row_of(table, "RSC-KDE (pooled scopes, ridge)")
    for level, printed in zip(TABLE_LEVELS, (0.0090, 0.0098, 0.0104, 0.0117), strict=True):
        assert row[f"{level:.0%} paper"].startswith(f"{printed:.4f} ±")
        assert row[f"{level:.0%} ours"] == "0.0100 ± 0.0010"
        assert row[f"{level:.0%} ratio"] == f"{0.01 / printed:.2f}"
    row = row_of(table, "1", "RVFL")
    assert row["10% paper"] == "0.0463 ± 2e-05"
    assert row["10% ratio"] == f"{0.02 / 0.0463:.2f}"
    assert row_of(table, "RSC-KDE divided by RSC-KDE's oracle, same trials")["10% ours"] == "2.00"
    assert row_of(table, "RVFL, cell by cross-validation")["10% ours"] == "0.0200 ± 0.0020"


def test_table_1_takes_the_cell_that_is_best_by_test_error(results):
    name = part_name(Experiment(FUNCTION).name, 0.15)
    layers_done = results.record["parts"][name]["layers"]
    layers_done["favourite"]["PRNNRW"]["50"] = "PRNNRW | 50 | 200"
    layers_done["rmse"]["PRNNRW | 50 | 200"] = _summary(0.0444)
    row = row_of(all_tables(results)["table1"][0], "50", "PRNNRW (rho 10)")
    assert row["15% ours"].startswith("0.0444")
    assert row["10% ours"].startswith("0.0200")


def test_table_3_and_5(results):
    table = all_tables(results)["table3"][0]
    stock = [row for row in table.rows if row[0] == "stock"]
    assert len(stock) == 1
    printed = tables()["stock", None, "RVFL", 0.10].mean
    first = dict(zip(table.columns, stock[0], strict=True))
    assert first["method"] == "RVFL"
    assert first["10% ratio"] == f"{0.02 / printed:.2f}"
    last = all_tables(results)["table5"][2]
    row = row_of(last, "12")
    assert row["L=80 paper"] == "0.2308"
    assert row["L=80 ours"] == "0.0800"
    assert row["L=80 ratio"] == f"{0.08 / 0.2308:.2f}"


@pytest.mark.parametrize(
    ("task", "table"), [(FUNCTION, "table1"), (KEEL[0], "table3"), (GRINDING, "table4")]
)
def test_what_was_run_is_shown_whatever_the_protocol(task, table):
    """`--protocol replace` may be asked for with any task."""
    name = part_name(Experiment(task, "replace").name, 0.10)
    part = {"rsc-kde": _paired({"RSC-KDE": 0.0123}), "layers": _layers_of(task, 0.02)}
    (found,) = all_tables(Results({"seconds": 0, "parts": {name: part}}))[table]
    assert "replace" in found.title
    assert "0.0123" in found.markdown()


def test_no_results_no_tables():
    empty = Results({"seconds": 0, "parts": {}})
    assert all(parts == [] for parts in all_tables(empty).values())
    assert all(claim.cases == 0 for claim in claims(empty))
    assert all("not run" in claim.sentence() for claim in claims(empty))


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
    assert found.record["seconds"] == round(
        sum(
            trial["seconds"]
            for level in experiment.levels
            for group in TINY.groups
            for trial in store.trials(experiment, level, group).values()
        )
    )


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
    assert (found.holds, found.cases) == (2, 4)
    assert "10% 0.0150" in found.detail, "the literal algorithm's error is named"
    fixed = results.record["parts"]["function-add-fixed 10"]
    fixed["rsc-kde"]["rmse"]["RSC-KDE"] = _summary(0.0089)
    found = paper_level(results, "add", "fixed")
    assert (found.holds, found.cases) == (3, 4)
    assert "10% 0.0089, paper 0.0090" in found.detail


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
    assert count["table"] == 12
    assert count["img"] == len(CAPTIONS) == 6
    assert count["html"] == count["h1"] == 1
    text = page_blocks.markdown(content)
    for table in [t for parts in all_tables(results).values() for t in parts]:
        lines = table.markdown().splitlines()[2:]
        assert {line.count("|") for line in lines} == {len(table.columns) + 1}
        assert table.markdown() in text
    for claim in claims(results):
        assert claim.sentence() in text


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
        ("grinding-add-fixed 15", "rsc-kde", "oracle"): "0.7773",
        ("grinding-add-redrawn 30", "rounds", "12 | 80"): "0.7774",
        ("function-replace-redrawn 25", "ablation", "ours, no ridge"): "0.7775",
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
        if "Table 4" in claim.text or "Table 5" in claim.text:
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


# --- the page that is committed --------------------------------------------------------------


@pytest.mark.usefixtures("drawing")
def test_committed_page_is_what_its_results_make(tmp_path):
    results = Results.read(PAGE / "results.json")
    figures = [name for name in CAPTIONS if (PAGE / f"{name}.svg").exists()]
    content = blocks(results, figures)
    assert (PAGE / "README.md").read_text(encoding="utf-8") == page_blocks.markdown(content)
    assert (PAGE / "index.html").read_text(encoding="utf-8") == page_blocks.html(content)
    assert drawn_figures(results, tmp_path) == figures == list(CAPTIONS)
    committed = {p.name for p in PAGE.iterdir() if p.suffix in (".svg", ".png")}
    assert committed == {p.name for p in tmp_path.iterdir()}


def test_committed_page_is_of_a_full_run():
    results = Results.read(PAGE / "results.json")
    assert {name: len(parts) for name, parts in all_tables(results).items()} == {
        "table1": 4,
        "table3": 2,
        "table4": 2,
        "table5": 3,
        "choices": 1,
    }
    for experiment in experiments():
        for level in experiment.levels:
            error = results.error(experiment.name, level, "RSC-KDE")
            assert error is not None
            assert error.n == Plan((experiment,), ()).n_trials(experiment, "rsc-kde")
    assert all(claim.cases > 0 for claim in claims(results))
