"""The report: what is taken out of a fit, and that nothing from the data becomes markup."""

import base64
import hashlib
import json
import sys
from dataclasses import FrozenInstanceError, replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustSCNRegressor,
    RobustTransformedRegressor,
    RSCKDERegressor,
    SCNRegressor,
)
from robustscn.datasets import contaminate, make_grinding
from robustscn.looks import Episode
from robustscn.report import FitRecord, record_of, render, write_report
from robustscn.report.charts import visible_range
from robustscn.report.columns import Column, column_of
from robustscn.report.dependence import inputs_of
from robustscn.report.page import _packed, embedded
from robustscn.report.points import MOST_POINTS, stretches_of
from robustscn.report.record import _facts
from robustscn.report.words import captions, explanation, headline, sampling, target_notes, tiles

EVIL = "<script>alert(1)</script>"
FEATURES = ["ore feed", "mill water", "sump water"]


def small(**settings):
    return RobustSCNRegressor(n_networks=4, max_nodes=30, n_rounds=5, random_state=0, **settings)


def grinding(n_rows=200):
    X, y = make_grinding(n_rows, rng=0)
    dirty, _ = contaminate(y, 0.25, rng=0)
    return pd.DataFrame(X, columns=FEATURES, index=np.arange(n_rows) + 1000).assign(size=dirty)


@pytest.fixture(scope="module")
def frame():
    return grinding()


@pytest.fixture(scope="module")
def model(frame):
    return small().fit(frame[FEATURES], frame["size"])


@pytest.fixture(scope="module")
def record(model, frame):
    return record_of(model, frame, targets="size", features=FEATURES)


@pytest.fixture(scope="module")
def evil_record():
    rng = np.random.default_rng(0)
    kinds = rng.choice(["<img src=x onerror=alert(2)>", "</script>", "%{x} & 'quoted'"], 120)
    frame = pd.DataFrame({EVIL: rng.normal(size=120), "<b>kind</b>": kinds})
    frame['y"><i>'] = frame[EVIL] + (kinds == "</script>")
    frame.loc[::10, 'y"><i>'] += 5.0
    features = [EVIL, "<b>kind</b>"]
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["<b>kind</b>"]), remainder="passthrough"
    )
    pipeline = make_pipeline(encode, small()).fit(frame[features], frame['y"><i>'])
    return record_of(
        pipeline,
        frame,
        targets=['y"><i>'],
        features=features,
        source={"name": EVIL, "sha256": "</style>"},
        command=f"robustscn fit '{EVIL}'",
        held_out={"median_absolute_error": 0.5, "rows": 30, "how": EVIL},
    )


def test_numbers_at_the_top_are_told_once(record, evil_record):
    assert [name for name, _, _ in tiles(record)] == [
        "Rows flagged",
        "Episodes",
        "Typical error",
    ]
    everything = {"median_absolute_error": 0.5, "rows": record.n_rows}
    left_out = replace(record, held_out=_facts(everything))
    assert "Held-out error" not in [name for name, _, _ in tiles(left_out)]
    assert "Held-out error" in [name for name, _, _ in tiles(evil_record)]  # 30 rows kept from it


def test_the_page_says_what_to_do_and_which_rows_its_pictures_lack(record):
    page = render(record)
    assert "--reviewed" in captions(record)["to_do"]
    assert captions(record)["to_do"].split(".")[0] in page
    assert captions(replace(record, episodes=()))["to_do"] == ""
    assert page.count('data-note="episodes"') == 1
    assert target_notes(record)["episodes"] == target_notes(record)["fit"]


class Parsed(HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.tags, self.scripts, self.attributes, self._inside = [], [], [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes.extend(attrs)
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, _tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data

    @property
    def payload(self):
        return json.loads(self.scripts[0])


def unpacked(packed):
    (kind,) = {"f4", "f8", "i4"} & packed.keys()
    return np.frombuffer(base64.b64decode(packed[kind]), dtype=f"<{kind}")


# ---- the record ----------------------------------------------------------------------------


def test_points_are_the_rows_of_the_fit(record, model, frame):
    points = record.points
    assert isinstance(record, FitRecord)
    assert (record.n_rows, record.n_suspects) == (200, int(model.outliers_.sum()))
    np.testing.assert_allclose(points.observed[:, 0], frame["size"].iloc[points.position])
    np.testing.assert_array_equal(points.name.values, frame.index[points.position])
    np.testing.assert_array_equal(points.weight, model.inlier_weight_[points.position])
    np.testing.assert_allclose(
        points.deviations[:, 0] * model.residual_scale_[0],
        (points.observed - points.expected)[:, 0],
    )
    for column in points.raw:
        np.testing.assert_array_equal(column.values, frame[column.name].iloc[points.position])


def offsets(model, X, expected, rows, coverage=0.9):
    """How far the ends lie from what was expected, by `predict_interval` about its own middle."""
    X = X.iloc[rows]
    middle = model.predict(X).reshape(len(rows), -1) + model._centre * model._scale
    ends = model.predict_interval(X, coverage).reshape(len(rows), -1, 2)
    return ends - middle[..., None] + expected[..., None]


@pytest.mark.parametrize("n_targets", [1, 2])
def test_what_is_plausible_is_as_wide_as_intervals_about_what_was_expected(frame, n_targets):
    both = frame.assign(double=100 - 2 * frame["size"])
    targets = ["size", "double"][:n_targets]
    model = small().fit(both[FEATURES], both[targets])
    points = record_of(model, both, targets=targets, features=FEATURES).points
    wanted = offsets(model, both[FEATURES], points.expected, points.position)
    np.testing.assert_allclose(points.plausible, wanted, rtol=1e-9)
    assert points.plausible.shape == (200, n_targets, 2)
    fewer = points.thinned(50)
    np.testing.assert_array_equal(
        fewer.plausible, points.plausible[np.isin(points.position, fewer.position)]
    )


def test_of_the_rows_that_are_right_most_are_plausible_and_hardly_one_that_is_flagged():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.linspace(0, 1, 800)})
    clean = np.sin(6 * table["x"]) + 0.1 * rng.normal(size=800)
    wrong = rng.random(800) < 0.2
    table["y"] = clean + wrong * rng.uniform(-4, 4, size=800)
    model = small().fit(table[["x"]], table["y"])
    points = record_of(model, table, targets="y", features=["x"]).points
    low, high = points.plausible[:, 0].T
    right = clean.to_numpy()[points.position]
    assert np.mean((low <= right) & (right <= high)) == pytest.approx(0.9, abs=0.05)
    observed = points.observed[-points.n_suspects :, 0]
    inside = (low[-points.n_suspects :] <= observed) & (observed <= high[-points.n_suspects :])
    assert not inside.any()


def test_what_is_plausible_of_a_pipeline_is_asked_behind_its_steps():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=150), "kind": rng.choice(["a", "b"], 150)})
    table["y"] = np.exp(0.3 * table["x"] + (table["kind"] == "b") + 0.1 * rng.normal(size=150))
    encode = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["kind"]), remainder="passthrough"
    )
    inner = RobustTransformedRegressor(small(), transformation="log")
    model = make_pipeline(encode, inner).fit(table[["x", "kind"]], table["y"])
    points = record_of(model, table, targets="y", features=["x", "kind"]).points
    X = pd.DataFrame(encode.transform(table[["x", "kind"]]))
    logarithms = offsets(model[-1].estimator_, X, np.log(points.expected), points.position)
    np.testing.assert_allclose(np.log(points.plausible), logarithms, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", [RSCKDERegressor, ImprovedRVFLRegressor])
def test_nothing_is_called_plausible_by_who_knows_no_intervals(frame, kind):
    for model in (kind(20, random_state=0), RobustTransformedRegressor(kind(20, random_state=0))):
        model.fit(frame[FEATURES], frame["size"])
        record = record_of(model, frame, targets="size", features=FEATURES)
        assert record.points.plausible is None
        assert "plausible" not in captions(record)["about_table"]
        assert not Parsed(render(record)).payload["plausible"]


def test_the_page_has_what_is_plausible_in_its_table_and_a_band_where_rows_are_in_order():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": np.linspace(0, 1, 400)})
    table["y"] = np.sin(6 * table["x"]) + 0.1 * rng.normal(size=400)
    table.loc[::20, "y"] += 3.0
    model = small().fit(table[["x"]], table["y"])
    record = record_of(model, table, targets="y", features=["x"])
    page = Parsed(render(record)).payload
    assert page["plausible"]
    for name, ends in zip(("low-0", "high-0"), record.points.plausible[:, 0].T, strict=True):
        np.testing.assert_allclose(unpacked(page["columns"][name]), ends, rtol=1e-6)
    assert "Between the plausible values lie 90% of clean" in captions(record)["about_table"]
    lower, upper, line, _ = page["figures"]["episodes"][0]["data"]
    order = np.argsort(record.points.position)
    for edge, end in ((lower, 0), (upper, 1)):
        assert edge["x"] == line["x"]
        np.testing.assert_allclose(edge["y"], record.points.plausible[order, 0, end], rtol=1e-5)
    assert upper["fill"] == "tonexty"
    # The same rows shuffled are expected to leap by more than the band is wide.
    mixed = table.sample(frac=1.0, random_state=0).reset_index(drop=True)
    model.fit(mixed[["x"]], mixed["y"])
    shuffled = record_of(model, mixed, targets="y", features=["x"])
    assert len(Parsed(render(shuffled)).payload["figures"]["episodes"][0]["data"]) == 2


def test_suspects_come_last_in_the_reverse_order_of_the_outlier_table(record, model, frame):
    table = model.outlier_table(index=frame.index)
    rows = record.points.name.values[::-1][: record.points.n_suspects]
    np.testing.assert_array_equal(rows, table["row"])


def test_a_record_cannot_be_changed(record):
    with pytest.raises(FrozenInstanceError):
        record.n_rows = 1


def test_the_histogram_counts_every_row_once(record, model):
    deviations = model.residuals_ / model.residual_scale_[0]
    edges = np.linspace(-10, 10, 81)
    target = record.targets[0]
    expected, _ = np.histogram(np.clip(deviations, -10, 10), edges)
    np.testing.assert_array_equal(target.counts, expected)
    last = model.inlier_weight_[deviations >= edges[-2]]
    assert target.weights[-1] == pytest.approx(np.median(last))
    assert np.isnan(target.weights[target.counts == 0]).all()
    assert target.median_error == pytest.approx(np.median(np.abs(model.residuals_)))


def test_a_stripe_of_suspects_stands_out_and_scattered_ones_do_not():
    rng = np.random.default_rng(0)
    name = Column("row", "number", np.arange(2000.0) + 5)
    scattered = rng.random(2000) < 0.1
    assert not stretches_of(scattered, name, None).stands_out
    stripe = scattered.copy()
    stripe[700:750] = True
    found = stretches_of(stripe, name, None)
    assert found.stands_out
    assert 690 <= found.first - 5 <= 750
    assert found.share.max() == pytest.approx(
        stripe[int(found.first) - 5 : int(found.last) - 4].mean()
    )


def test_stretches_follow_the_time_and_skip_rows_without_one():
    hours = np.arange(400.0)
    shuffled = np.random.default_rng(0).permutation(400)
    suspect = (shuffled >= 100) & (shuffled < 140)
    along = Column("hour", "number", np.where(shuffled == 3, np.nan, hours[shuffled]))
    found = stretches_of(suspect, Column("row", "number", hours), along)
    assert found.stands_out
    assert 95 <= found.first < found.last <= 145
    assert not stretches_of(suspect, Column("row", "number", hours), None).stands_out


def test_paths_mark_what_was_kept(record, model):
    growth, rounds = record.paths
    assert (growth.along, rounds.along) == ("nodes", "rounds")
    np.testing.assert_array_equal(growth.errors[1][1], model.growth_path_["left_out_error"])
    assert rounds.kept == model.n_rounds_
    np.testing.assert_array_equal(rounds.errors[0][1], model.error_path_)


def test_partial_dependence_is_the_mean_over_trusted_rows_and_the_strong_input_is_first():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"weak": rng.normal(size=150), "strong": rng.normal(size=150)})
    rows["level"] = pd.Categorical(rng.choice(["low", "high"], 150))
    rows["unused"] = 1

    def predict(x):
        lifted = (x["level"] == "high").to_numpy()
        return (0.1 * x["weak"] + x["strong"] ** 2 + 3.0 * lifted).to_numpy()[:, None]

    inputs = inputs_of(predict, rows, list(rows.columns), np.ones(1))
    by_name = {main.grid.name: main for main in inputs.main}
    assert [main.grid.name for main in inputs.main] == ["level", "strong", "weak"]
    strong = by_name["strong"]
    others = 0.1 * rows["weak"].mean() + 3.0 * (rows["level"] == "high").mean()
    np.testing.assert_allclose(strong.mean[:, 0], strong.grid.values**2 + others)
    heights = dict(zip(by_name["level"].grid.values, by_name["level"].mean[:, 0], strict=True))
    assert heights["high"] - heights["low"] == pytest.approx(3.0)
    assert inputs.n_tried == inputs.n_all == 4


def test_inputs_are_asked_of_trusted_rows_only(record, model):
    trusted = record.n_rows - record.n_suspects
    assert record.inputs.n_rows == trusted < 200
    highest = max(main.mean.max() for main in record.inputs.main)
    assert highest <= model.expected_[~model.outliers_].max()


def test_dates_booleans_and_missing_values_have_a_dependence():
    rng = np.random.default_rng(0)
    days = pd.date_range("2026-01-01", periods=100, tz="Europe/Berlin").to_series(index=range(100))
    rows = pd.DataFrame({"day": days, "on": rng.random(100) < 0.5})
    rows["count"] = pd.array(rng.integers(0, 50, 100), dtype="Int64")
    rows.loc[3, "count"] = pd.NA
    start = days.iloc[0]

    def predict(x):
        assert list(x.dtypes) == list(rows.dtypes)
        age = (x["day"] - start).dt.total_seconds().to_numpy() / 86400
        count = x["count"].to_numpy(dtype=float, na_value=0.0)
        return (age + 5.0 * x["on"].to_numpy() + count)[:, None]

    inputs = inputs_of(predict, rows, list(rows.columns), np.ones(1))
    kinds = {main.grid.name: main.grid.kind for main in inputs.main}
    assert kinds == {"day": "date", "on": "text", "count": "number"}
    (day,) = (main for main in inputs.main if main.grid.name == "day")
    steps = np.diff(day.mean[:, 0]) / np.diff(day.grid.values)
    np.testing.assert_allclose(steps, 1 / 86_400_000, rtol=1e-4)


def test_words_among_dates_have_a_dependence_without_deciles():
    # Words are rarer than what is chosen for the curve, which then is all dates.
    days = [f"2026-0{1 + k % 3}-{1 + k % 28:02}" for k in range(168)]
    rows = pd.DataFrame({"day": [*days, *(f"batch {k}" for k in range(90))]})
    inputs = inputs_of(lambda x: x["day"].str.len().to_numpy()[:, None], rows, ["day"], np.ones(1))
    (day,) = inputs.main
    assert day.deciles.size == 0


def test_the_search_for_main_inputs_ends_in_time(record):
    rows = pd.DataFrame(np.eye(20))
    inputs = inputs_of(lambda x: x.to_numpy()[:, :1], rows, range(20), np.ones(1), seconds=0.0)
    assert (inputs.n_tried, inputs.n_all) == (1, 20)
    assert "1 of 20 inputs were tried" in render(replace(record, inputs=inputs))


def test_time_is_shown_as_dates_and_text_is_not_taken_for_time(model, frame):
    times = pd.date_range("2026-03-01", periods=200, freq="h", tz="UTC")
    timed = frame.assign(when=times, label="a")
    timed.loc[1000, "when"] = pd.NaT
    named = {"targets": ["size"], "features": FEATURES}
    along = record_of(model, timed, time="when", **named).points.along
    assert along.kind == "date"
    assert np.nanmin(along.values) == times[1].timestamp() * 1000
    assert record_of(model, timed, time="label", **named).points.along is None
    texts = frame.assign(when=times.strftime("%d.%m.%Y %H:%M"))
    read = record_of(model, texts, time="when", **named).points.along
    np.testing.assert_array_equal(np.sort(read.values), 1000.0 * times.map(pd.Timestamp.timestamp))


def test_a_date_that_is_text_is_set_to_texts_and_drawn_as_dates():
    days = pd.date_range("2026-01-01", periods=100)
    rows = pd.DataFrame({"day": days.strftime("%Y-%m-%d")})

    def predict(x):
        return pd.to_datetime(x["day"], format="%Y-%m-%d").dt.day_of_year.to_numpy(float)[:, None]

    (day,) = inputs_of(predict, rows, ["day"], np.ones(1)).main
    assert day.grid.kind == "date"
    np.testing.assert_allclose(np.diff(day.mean[:, 0]), np.diff(day.grid.values) / 86_400_000)


@pytest.mark.parametrize("estimator", [RSCKDERegressor, ImprovedRVFLRegressor, PRNNRWRegressor])
def test_every_robust_estimator_has_a_page(estimator, frame):
    X, y = frame[FEATURES].to_numpy(), frame["size"].to_numpy()
    fitted = estimator(random_state=0).fit(X, y)
    record = record_of(fitted, frame, targets="size", features=FEATURES)
    assert not record.left_out
    assert estimator.__name__ in render(record)


def test_several_targets_have_a_chooser_and_figures_of_their_own(frame):
    two = frame.assign(other=frame["ore feed"] * 2)
    fitted = small().fit(two[FEATURES], two[["size", "other"]])
    parsed = Parsed(render(record_of(fitted, two, targets=["size", "other"], features=FEATURES)))
    assert parsed.tags.count("option") == 2
    assert len(parsed.payload["figures"]["fit"]) == 2
    table = fitted.outlier_table(index=two.index)
    n = len(table)
    worst = unpacked(parsed.payload["columns"]["worst"])[::-1][:n]
    np.testing.assert_array_equal(worst, table["output"])


# ---- what is refused -----------------------------------------------------------------------


def test_what_cannot_be_reported_is_refused_with_what_to_do(model, frame):
    named = {"targets": "size", "features": FEATURES}
    plain = SCNRegressor(3, random_state=0).fit(frame[FEATURES], frame["size"])
    with pytest.raises(TypeError, match="SCNRegressor does not judge rows: fit a robust estimator"):
        record_of(plain, frame, **named)
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        record_of(small(), frame, **named)
    with pytest.raises(ValueError, match="fitted on 200 rows and 1 targets, got 199 rows"):
        record_of(model, frame[1:], **named)
    with pytest.raises(ValueError, match="no column 'size'"):
        record_of(model, frame.drop(columns="size"), **named)
    with pytest.raises(ValueError, match="two columns 'size'"):
        record_of(model, pd.concat([frame, frame[["size"]]], axis=1), **named)


def test_a_missing_plotly_is_named(record, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ImportError, match=r"pip install 'robustscn\[cli\]'"):
        render(record)


# ---- words ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_suspects", "sentence"),
    [
        (0, "None of 12,000 rows was flagged."),
        (1, "1 of 12,000 rows was flagged."),
        (1337, "1,337 of 12,000 rows were flagged."),
    ],
)
def test_the_headline(record, n_suspects, sentence):
    assert headline(replace(record, n_suspects=n_suspects, n_rows=12_000)) == sentence


def test_flagged_rows_that_may_be_right_are_counted_in_words(record):
    said = [
        explanation(replace(record, n_suspects=n, n_maybe_right=right))[0]
        for n, right in ((30, 2), (30, 0), (1, 1), (1, 0))
    ]
    for text, words in zip(
        said,
        (
            "About 2 of these 30 may be right after all.",
            "Hardly one of these 30 may be right after all.",
            "This one may still be right.",
            "This one is hardly right.",
        ),
        strict=True,
    ):
        assert words in text


def test_a_bad_week_is_in_the_picture_and_a_gross_one_does_not_flatten_the_rest(frame):
    def drawn(factor):
        week = frame.assign(size=np.random.default_rng(1).normal(20.0, 1.0, len(frame)))
        week.iloc[100:130, week.columns.get_loc("size")] *= factor
        fitted = small().fit(week[FEATURES], week["size"])
        far = np.arange(100, 130)
        kept = record_of(fitted, week, targets="size", features=FEATURES)
        episode = Episode(
            *("unit", "a week", "size", far, 30, 20.0, 20.0, 1100, 1129, "", "", "30 rows")
        )
        return visible_range(replace(kept, episodes=(episode,)), 0), week["size"].iloc[far]

    (_, high), size = drawn(1.6)
    assert (size <= high).mean() > 0.9
    (_, high), size = drawn(1000.0)
    assert high < 1000


def test_a_fit_without_suspects_has_a_page():
    frame = pd.DataFrame({"x": np.linspace(0, 1, 100)}).assign(y=lambda f: np.sin(3 * f["x"]))
    frame["y"] += np.random.default_rng(0).uniform(-0.1, 0.1, 100)
    fitted = small().fit(frame[["x"]], frame["y"])
    assert not fitted.outliers_.any()
    page = render(record_of(fitted, frame, targets="y", features=["x"]))
    assert "<h1>None of 100 rows was flagged.</h1>" in page


# ---- the page ------------------------------------------------------------------------------


def test_nothing_from_the_data_becomes_markup(evil_record):
    page = render(evil_record)
    parsed = Parsed(page)
    assert page.lower().count("</script") == parsed.tags.count("script") == 4
    assert not {"img", "i", "b"} & set(parsed.tags)
    assert EVIL in parsed.payload["raw"]
    assert "</script>" in parsed.payload["columns"]["raw-1"]["levels"]
    titles = [figure["layout"]["xaxis"]["title"]["text"] for figure in figures(parsed)]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in titles
    assert not any("<" in title for title in titles)


def figures(parsed):
    return [figure for several in parsed.payload["figures"].values() for figure in several]


def test_the_page_allows_its_own_scripts_only_and_asks_for_nothing(evil_record):
    parsed = Parsed(render(evil_record))
    assert not {"src", "href"} & {name for name, _ in parsed.attributes}
    (policy,) = (value for _, value in parsed.attributes if "script-src" in (value or ""))
    assert policy.startswith("default-src 'none';")
    for script in parsed.scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "unsafe-inline" not in policy.split("script-src")[1]


def test_facts_are_on_the_page(evil_record):
    page = render(evil_record)
    for fact in (
        "RobustSCNRegressor",
        "max_nodes",
        "columntransformer",
        "scikit-learn",
        "median absolute",
    ):
        assert fact in page
    assert "robustscn fit &#x27;&lt;script&gt;" in page


def test_embedded_json_holds_no_markup_and_refuses_what_json_has_not():
    text = embedded({"a": "</script><!--&"})
    assert not set("<>&") & set(text)
    assert json.loads(text) == {"a": "</script><!--&"}
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded([float("nan")])


def test_packed_columns_come_back():
    numbers = np.array([0.1, -2.5, np.nan, np.inf])
    np.testing.assert_allclose(unpacked(_packed(Column("", "number", numbers))), numbers, rtol=1e-7)
    whole = np.array([2.0**24 + 1, 12345678901.0])
    np.testing.assert_array_equal(unpacked(_packed(Column("", "number", whole))), whole)
    dates = column_of(pd.Series(pd.to_datetime(["2026-01-02 03:04:05.678", None])))
    np.testing.assert_array_equal(
        unpacked(_packed(dates)),
        [pd.Timestamp("2026-01-02 03:04:05.678").timestamp() * 1e3, np.nan],
    )
    texts = column_of(pd.Series(["b", None, "a", "b" * 99], dtype=object))
    packed = _packed(texts)
    levels = [packed["levels"][code] for code in unpacked(packed)]
    assert levels == ["b", "", "a", "b" * 59 + "…"]


def many(record, n_rows, n_suspects, **changes):
    """A record as of more rows than were fitted: the rows over and over."""
    points = record.points
    trusted = np.resize(np.arange(len(points) - points.n_suspects), n_rows - n_suspects)
    suspects = np.resize(np.arange(len(points) - points.n_suspects, len(points)), n_suspects)
    repeated = points._take(np.concatenate([trusted, suspects]))
    repeated = replace(repeated, n_suspects=n_suspects, **changes)
    return replace(record, points=repeated, n_rows=n_rows, n_suspects=n_suspects)


def test_thinned_rows_keep_suspects_first_and_the_page_says_so(record):
    everything = many(record, 40_000, 3000)
    thinned = everything.points.thinned(MOST_POINTS)
    assert (len(thinned), thinned.n_suspects) == (10_000, 3000)
    said = sampling(everything, thinned)
    assert "10,000 of 40,000 rows: all 3,000 flagged rows and 7,000 of the others" in said
    spoiled = many(record, 40_000, 30_000)
    thinned = spoiled.points.thinned(MOST_POINTS)
    assert thinned.n_suspects == 5000
    np.testing.assert_array_equal(thinned.weight[-5000:], spoiled.points.weight[-5000:])
    assert "the 5,000 most suspicious of 30,000 flagged rows" in sampling(spoiled, thinned)
    mostly = many(record, 10_500, 10_400).points.thinned(MOST_POINTS)
    assert (len(mostly), mostly.n_suspects) == (10_000, 9900)
    assert sampling(record, record.points) == ""


def test_ten_thousand_rows_fit_and_long_texts_are_thinned_until_they_do(record):
    ten_thousand = many(record, 10_000, 1000)
    page = render(ten_thousand)
    assert len(page.encode()) < 6e6
    assert Parsed(page).payload["rows"] == 10_000
    names = np.array([f"{k:060d}" for k in range(10_000)], dtype=object)
    wordy = replace(ten_thousand.points, raw=tuple(Column(str(k), "text", names) for k in range(6)))
    page = render(replace(ten_thousand, points=wordy))
    assert len(page.encode()) < 6e6
    assert 500 < Parsed(page).payload["rows"] < 10_000
    assert "To keep this page light" in page


def test_a_report_is_written_whole_or_not_at_all(record, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("before")
    assert write_report(record, path) == path
    assert path.read_text(encoding="utf-8") == render(record)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    taken = tmp_path / "taken"
    (taken / "inside").mkdir(parents=True)
    with pytest.raises(OSError, match="taken"):
        write_report(record, taken)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "taken"]
