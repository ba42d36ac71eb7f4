"""Intervals, deviations and flags: what they hold on dirty rows, in memory and from a file."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustscn import (
    RobustBlendRegressor,
    RobustRegressor,
    RobustSCNRegressor,
    RobustTransformedRegressor,
)

ROOT = Path(__file__).parent.parent
QUICK = {"n_networks": 4, "max_nodes": 40, "n_rounds": 6, "n_jobs": 1, "random_state": 0}


def rows(n=500, *, share=0.2, noise=None, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    level = np.full(n, 0.1) if noise is None else noise(X)
    y = np.sin(4 * X[:, 0]) + X[:, 1] + level * rng.normal(size=n)
    wrong = rng.random(n) < share
    clean = y.copy()
    y[wrong] += rng.uniform(-4, 4, size=wrong.sum())
    return X, y, clean, wrong


@pytest.fixture(scope="module", params=[0.0, 0.1, 0.3])
def fitted(request):
    X, y, _, wrong = rows(share=request.param)
    return RobustSCNRegressor(**QUICK).fit(X, y), wrong, request.param


def test_intervals_hold_the_stated_share_of_clean_targets(fitted):
    model, _, _ = fitted
    fresh, _, clean, _ = rows(4000, seed=1)
    for coverage in (0.5, 0.9):
        low, high = model.predict_interval(fresh, coverage).T
        inside = np.mean((low <= clean) & (clean <= high))
        assert inside == pytest.approx(coverage, abs=0.05)
    # Two times 1.645 standard deviations, and a little for what the networks do not know.
    assert 0.3 < np.mean(high - low) < 0.42
    assert np.all((low < model.predict(fresh)) & (model.predict(fresh) < high))


def test_flags_hold_their_rate_and_the_share_is_found(fitted):
    model, wrong, share = fitted
    assert model.estimated_outlier_share_ == pytest.approx(share, abs=0.06)
    if share == 0:
        assert model.outliers_.sum() <= 1
    else:
        assert np.mean(~wrong[model.outliers_]) < 0.15
        assert np.mean(model.outliers_[wrong]) > 0.75


def test_intervals_and_flags_follow_noise_that_depends_on_the_inputs():
    def fan(X):
        return 0.03 + 0.4 * X[:, 1] ** 2

    X, y, _, wrong = rows(1000, share=0.1, noise=fan, seed=2)
    model = RobustSCNRegressor(**QUICK).fit(X, y)
    fresh, _, clean, _ = rows(4000, noise=fan, seed=3)
    low, high = model.predict_interval(fresh, 0.9).T
    inside, level = (low <= clean) & (clean <= high), fan(fresh)
    for quantile in np.linspace(0, 0.8, 5):
        ends = np.quantile(level, [quantile, quantile + 0.2])
        part = (level >= ends[0]) & (level <= ends[1])
        # By one scale for all rows the fifths would have from 50 to 100 %.
        assert 0.74 < np.mean(inside[part]) < 0.99
    noisy = fan(X) > np.quantile(fan(X), 0.8)
    assert np.mean(model.outliers_[noisy & ~wrong]) < 0.05


def test_several_outputs_have_intervals_of_their_own():
    X, y, _, _ = rows(300)
    model = RobustSCNRegressor(**QUICK).fit(X, np.column_stack([y, 10 * X[:, 0]]))
    interval = model.predict_interval(X)
    assert interval.shape == (300, 2, 2)
    width = np.mean(interval[:, :, 1] - interval[:, :, 0], axis=0)
    assert width[1] < width[0]  # the second is met exactly


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    X, y, _, _ = rows(60)
    model = RobustSCNRegressor(**QUICK | {"n_rounds": 1, "max_nodes": 5}).fit(X, y)
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        model.predict_interval(X, coverage)


def test_intervals_are_the_same_from_a_file(tmp_path):
    from robustscn.persistence import load, save

    X, y, _, _ = rows(200, noise=lambda X: 0.02 + 0.4 * X[:, 1])
    model = RobustSCNRegressor(**QUICK).fit(X, y)
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops").model
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))


def test_the_benchmark_spoils_the_share_it_says_and_tables_what_it_finds():
    benchmark = runpy.run_path(str(ROOT / "benchmarks" / "certainty.py"))
    for kind in ("add", "replace", "one side"):
        draw = benchmark["drawn"]("Friedman, even noise", f"{kind} 25 %", 0)
        clean = benchmark["drawn"]("Friedman, even noise", "none", 0).y
        assert draw.wrong.sum() == 250
        np.testing.assert_array_equal(draw.y != clean, draw.wrong)
    assert np.all(draw.y >= clean)
    found = {"coverage": 0.912, "width": 0.5, "flagged": 40.0, "found": 30.0, "wrong": 60.0}
    results = {
        " / ".join(map(str, cell)): found | {"estimated": 0.2}
        for cell in benchmark["cells"](1, benchmark["METHODS"])
    }
    wider = [key for key in results if key.startswith("RobustSCN")]
    results |= {key: results[key] | {"width": 0.55} for key in wider}
    page = benchmark["page_of"]("before <!-- measured --> stale <!-- /measured --> after", results)
    assert page.startswith("before")
    assert page.endswith("after")
    assert "stale" not in page
    assert "91.2 % (1.10)" in page
    assert "91.2 % (1.00)" in page
    assert "25 % right, 50 % found; 20 % estimated" in page


def test_both_ends_hold_though_residuals_are_judged_around_their_median():
    # Least squares go through the mean of skewed noise, which lies far above its median.
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(6000, 1))
    y = 2 * X[:, 0] + rng.exponential(size=6000)
    model = RobustRegressor(LinearRegression(), judge="clones", random_state=0)
    lower, upper = model.fit(X[:2000], y[:2000]).predict_interval(X[2000:], 0.8).T
    assert np.mean(y[2000:] < lower) == pytest.approx(0.1, abs=0.03)
    assert np.mean(y[2000:] > upper) == pytest.approx(0.1, abs=0.03)


# Standard deviations ---------------------------------------------------------------------------

SHARE = norm.cdf(1) - norm.cdf(-1)


def robust(name):
    networks = RobustSCNRegressor(**QUICK)
    return {
        "networks": networks,
        "lines": RobustRegressor(LinearRegression(), judge="clones", random_state=0),
        "both": RobustBlendRegressor(networks, LinearRegression(), random_state=0),
        "transformed": RobustTransformedRegressor(networks, transformation="log"),
    }[name]


def test_the_deviation_is_that_of_the_noise_however_many_rows_are_wrong(fitted):
    model, _, _ = fitted
    fresh, _, clean, _ = rows(4000, seed=1)
    mean, std = model.predict(fresh, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(fresh))
    assert std.shape == mean.shape == (4000,)
    assert np.median(std) == pytest.approx(0.1, rel=0.12)
    # In units of the deviation clean targets are a standard normal variable.
    score = (clean - mean) / std
    assert np.std(score) == pytest.approx(1.0, abs=0.15)
    assert np.mean(np.abs(score) < 1) == pytest.approx(SHARE, abs=0.06)


def test_the_deviation_follows_noise_that_depends_on_the_inputs():
    def fan(X):
        return 0.03 + 0.4 * X[:, 1] ** 2

    X, y, _, _ = rows(1500, share=0.1, noise=fan, seed=2)
    model = RobustSCNRegressor(**QUICK).fit(X, y)
    fresh, _, _, _ = rows(2000, seed=3)
    _, std = model.predict(fresh, return_std=True)
    level = fan(fresh)
    for low, high in ((0.03, 0.1), (0.2, 0.45)):
        part = (level > low) & (level < high)
        assert np.median(std[part] / level[part]) == pytest.approx(1.0, abs=0.35)
    assert np.corrcoef(np.log(std), np.log(level))[0, 1] > 0.8


@pytest.mark.parametrize("name", ["networks", "lines", "both", "transformed"])
@pytest.mark.parametrize("n_outputs", [0, 2])
def test_the_deviation_is_half_of_the_interval_that_it_stands_for(name, n_outputs):
    X, y, _, _ = rows(200)
    y = np.exp(y)
    if n_outputs:
        y = np.column_stack([y, 2 + X[:, 0] + 0.1 * y])
    model = robust(name).fit(X, y)
    mean, std = model.predict(X, return_std=True)
    np.testing.assert_array_equal(mean, model.predict(X))
    ends = model.predict_interval(X, SHARE)
    assert std.shape == y.shape
    np.testing.assert_allclose(std, (ends[..., 1] - ends[..., 0]) / 2, rtol=1e-9)
    assert np.all(std > 0)


def test_the_deviation_has_the_unit_of_the_target():
    X, y, _, _ = rows(200)
    _, std = RobustSCNRegressor(**QUICK).fit(X, y).predict(X, return_std=True)
    _, large = RobustSCNRegressor(**QUICK).fit(X, 1024 * y).predict(X, return_std=True)
    np.testing.assert_allclose(large, 1024 * std, rtol=1e-9)


def test_a_pipeline_passes_the_question_on():
    X, y, _, _ = rows(120)
    model = make_pipeline(StandardScaler(), RobustSCNRegressor(**QUICK)).fit(X, y)
    _, std = model.predict(X, return_std=True)
    ends = model[-1].predict_interval(model[:-1].transform(X), SHARE)
    np.testing.assert_allclose(std, np.diff(ends, axis=1)[:, 0] / 2, rtol=1e-9)


def test_the_deviation_follows_a_stream_that_becomes_noisier():
    X, y, _, _ = rows(1400, share=0.1, seed=5)
    model = RobustSCNRegressor(**QUICK).fit(X[:300], y[:300])
    model.partial_fit(X[300:600], y[300:600])
    _, quiet = model.predict(X[:5], return_std=True)
    later, noisy, _, _ = rows(800, share=0.1, noise=lambda X: np.full(len(X), 0.3), seed=6)
    mean, std = model.partial_fit(later, noisy).predict(X[:5], return_std=True)
    low, high = model.predict_interval(X[:5], SHARE).T
    np.testing.assert_allclose(std, (high - low) / 2, rtol=1e-9)
    np.testing.assert_array_equal(mean, model.predict(X[:5]))
    assert np.median(quiet) == pytest.approx(0.1, rel=0.35)
    assert np.median(std) == pytest.approx(0.3, rel=0.35)
