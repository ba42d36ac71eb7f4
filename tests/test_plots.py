"""The pictures show the numbers they say they show."""

import subprocess
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustSCNRegressor,
    RSCKDERegressor,
    RVFLRegressor,
    SCNRegressor,
)
from robustscn.plots import (
    GrowthDisplay,
    ResidualDensityDisplay,
    RoundsDisplay,
    SuspectRowsDisplay,
)

QUICK = {"n_networks": 4, "max_nodes": 30, "n_rounds": 5, "random_state": 0}
DISPLAYS = [GrowthDisplay, ResidualDensityDisplay, RoundsDisplay, SuspectRowsDisplay]


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def dirty(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    y = np.sin(6 * X[:, 0]) + 0.1 * rng.normal(size=n)
    y[::10] += 2.0
    return X, y


@pytest.fixture(scope="module")
def data():
    return dirty()


@pytest.fixture(scope="module")
def model(data):
    return RobustSCNRegressor(**QUICK).fit(*data)


# -- residuals --------------------------------------------------------------------------------


def test_residuals_are_those_rows_were_judged_by(model, data):
    display = ResidualDensityDisplay.from_estimator(model, *data)
    np.testing.assert_allclose(display.residuals, data[1] - model.expected_, atol=1e-12)
    drawn = display.weight_line_.get_xydata()
    deviations = np.clip(model.residuals_ / model.residual_scale_[0], -8, 8)
    order = np.argsort(deviations, kind="stable")
    np.testing.assert_allclose(
        drawn, np.column_stack([deviations, model.inlier_weight_])[order], atol=1e-12
    )


def test_density_is_the_sum_of_kernels(model):
    display = ResidualDensityDisplay.from_estimator(model)
    grid, height = display.line_.get_data()
    values = model.residuals_ / model.residual_scale_[0]
    h = 1.06 * len(values) ** -0.2
    kernels = np.exp(-0.5 * ((grid[:, None] - values) / h) ** 2) / (h * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(height, kernels.mean(axis=1), atol=2e-3 * height.max())


def test_every_row_is_in_a_bar_and_suspects_have_their_own(model):
    display = ResidualDensityDisplay.from_estimator(model, bins=16, limit=4.0)
    believed, suspect = display.bars_
    width = believed[0].get_width()
    heights = np.array([[bar.get_height() for bar in bars] for bars in (believed, suspect)])
    np.testing.assert_allclose(width, 0.5)
    np.testing.assert_allclose(heights.sum() * width, 1.0)
    np.testing.assert_allclose(heights[1].sum() * width, model.outliers_.mean())
    beyond = np.sum(np.abs(model.residuals_) > 4 * model.residual_scale_[0])
    assert f"({beyond} beyond" in display.ax_.get_xlabel()


def test_unit_of_y_stretches_the_axis_and_lowers_the_density(model):
    own = ResidualDensityDisplay.from_estimator(model, unit="y")
    deviations = ResidualDensityDisplay.from_estimator(model)
    scale = model.residual_scale_[0]
    np.testing.assert_allclose(
        own.line_.get_xdata(), scale * deviations.line_.get_xdata(), atol=1e-12
    )
    np.testing.assert_allclose(
        own.line_.get_ydata() * scale, deviations.line_.get_ydata(), atol=2e-3
    )
    with pytest.raises(ValueError, match="unit must be one of deviations, y, got 'volts'"):
        own.plot(unit="volts")


def test_residuals_of_other_rows(model):
    X, y = dirty(100, seed=1)
    display = ResidualDensityDisplay.from_predictions(y, model.predict(X), limit=30)
    np.testing.assert_allclose(display.residuals, y - model.predict(X))
    np.testing.assert_allclose(display.scale, np.median(np.abs(display.residuals)) / 0.6744897502)
    assert display.weight_ax_ is None
    assert len(display.bars_) == 1
    assert "beyond" not in display.ax_.get_xlabel()


def test_rows_met_exactly_can_be_drawn():
    X = np.linspace(0, 1, 60)[:, None]
    y = np.ones(60)
    y[7] = 2.0
    fitted = RobustSCNRegressor(**QUICK).fit(X, y)
    display = ResidualDensityDisplay.from_estimator(fitted)
    assert np.isfinite(display.line_.get_ydata()).all()
    assert np.isfinite(ResidualDensityDisplay(residuals=y - 1, scale=0.0).plot().residuals).all()


# -- suspects ---------------------------------------------------------------------------------


def test_suspects_are_ringed_and_coloured_by_weight(model, data):
    display = SuspectRowsDisplay.from_estimator(model, *data, subsample=None)
    dots = np.asarray(display.scatter_.get_offsets())
    rows = np.concatenate([np.flatnonzero(~model.outliers_), np.flatnonzero(model.outliers_)])
    np.testing.assert_allclose(dots, np.column_stack([model.expected_, data[1]])[rows])
    np.testing.assert_array_equal(display.scatter_.get_array(), model.inlier_weight_[rows])
    rings = np.asarray(display.rings_.get_offsets())
    far = np.abs(rings[:, 1] - rings[:, 0]) > 3 * model.residual_scale_[0]
    assert far.all()
    assert len(rings) == model.outliers_.sum() >= 20
    assert display.colorbar_.ax.get_ylabel() == "inlier weight"


def test_weights_over_rows_and_over_time(model, data):
    rows = SuspectRowsDisplay.from_estimator(model, *data, kind="order")
    place, weight = np.asarray(rows.rings_.get_offsets()).T
    np.testing.assert_array_equal(place, np.flatnonzero(model.outliers_))
    np.testing.assert_array_equal(weight, model.inlier_weight_[model.outliers_])
    for time in (
        pd.Series(pd.date_range("2024-01-01", periods=200, freq="h")),
        pd.Series(pd.date_range("2024-01-01", periods=200, freq="h", tz="Europe/Berlin")),
    ):
        display = SuspectRowsDisplay.from_estimator(model, *data, kind="order", time=time)
        days = np.asarray(display.rings_.get_offsets())[:, 0]
        np.testing.assert_allclose(days - days[0], (place - place[0]) / 24, atol=1e-9)
        assert display.ax_.get_xlabel() == "time"
    with pytest.raises(ValueError, match="time has 3 entries for 200 rows"):
        SuspectRowsDisplay.from_estimator(model, *data, kind="order", time=[1, 2, 3])


def test_subsample_keeps_every_suspect(model, data):
    display = SuspectRowsDisplay.from_estimator(model, *data, subsample=10)
    assert len(display.scatter_.get_offsets()) == 10 + model.outliers_.sum()
    assert len(display.rings_.get_offsets()) == model.outliers_.sum()
    with pytest.raises(ValueError, match="subsample must be None or at least 1, got 0"):
        display.plot(subsample=0)


def test_kind_is_checked(model, data):
    with pytest.raises(ValueError, match="kind must be one of predictions, order, got 'pie'"):
        SuspectRowsDisplay.from_estimator(model, *data, kind="pie")


def test_given_rows_of_another_model():
    y_true, y_pred = np.array([1.0, 2.0, 9.0]), np.array([1.0, 2.1, 3.0])
    display = SuspectRowsDisplay.from_predictions(
        y_true, y_pred, inlier_weight=[1.0, 0.9, 0.0], outliers=[False, False, True]
    )
    assert np.asarray(display.rings_.get_offsets()).tolist() == [[3.0, 9.0]]
    assert display.line_.get_xydata().tolist() == [[1.0, 1.0], [9.0, 9.0]]


def test_several_outputs_are_drawn_one_at_a_time(data):
    X, y = data
    both = np.column_stack([np.cos(X[:, 0]), y])
    fitted = RobustSCNRegressor(**QUICK).fit(X, both)
    display = SuspectRowsDisplay.from_estimator(fitted, X, both, output=1, subsample=None)
    assert sorted(np.asarray(display.scatter_.get_offsets())[:, 1]) == pytest.approx(sorted(y))
    density = ResidualDensityDisplay.from_estimator(fitted, output=1)
    assert density.scale == fitted.residual_scale_[1]
    assert density.weight_line_.get_linestyle() == "None"  # weights are no function of one output
    for output in (2, -1):
        with pytest.raises(ValueError, match=f"output must be between 0 and 1, got {output}"):
            ResidualDensityDisplay.from_estimator(fitted, output=output)


# -- growth and rounds ------------------------------------------------------------------------


def test_growth_of_the_flagship(model):
    display = GrowthDisplay.from_estimator(model)
    path = model.growth_path_
    np.testing.assert_array_equal(display.line_.get_xdata(), path["nodes"])
    np.testing.assert_array_equal(display.line_.get_ydata(), path["training_error"])
    np.testing.assert_array_equal(display.other_line_.get_ydata(), path["left_out_error"])
    assert display.kept_.get_xdata()[0] == path["nodes"][-1] <= QUICK["max_nodes"]
    assert display.ax_.get_yscale() == "log"


def test_growth_of_a_handful_of_rows_and_of_nothing(data):
    few = RobustSCNRegressor(**QUICK).fit(data[0][:5], data[1][:5])
    assert GrowthDisplay.from_estimator(few).other_line_ is None  # no row was left out
    same = RobustSCNRegressor(**QUICK).fit(data[0], np.ones(200))
    assert GrowthDisplay.from_estimator(same).ax_.get_yscale() == "linear"  # zero has no logarithm


@pytest.mark.parametrize("cls", [SCNRegressor, RSCKDERegressor])
def test_growth_with_validation_marks_the_size_that_was_kept(cls, data):
    X, y = data
    fitted = cls(max_nodes=40, patience=5, random_state=0)
    fitted.fit(X, y, X_val=X[1::10], y_val=np.sin(6 * X[1::10, 0]))
    display = GrowthDisplay.from_estimator(fitted, log=False)
    assert display.kept == fitted.n_nodes_ < display.nodes[-1]
    np.testing.assert_array_equal(display.other_line_.get_ydata(), fitted.validation_path_)
    assert display.ax_.get_title() == fitted.stop_reason_
    assert display.ax_.get_yscale() == "linear"


def test_growth_without_validation_ends_at_the_last_node(data):
    grown_again = RSCKDERegressor(max_nodes=9, random_state=0).fit(*data)
    solved_again = RSCKDERegressor(max_nodes=9, rebuild=False, random_state=0).fit(*data)
    for fitted in (grown_again, solved_again):
        display = GrowthDisplay.from_estimator(fitted)
        assert display.kept == fitted.n_nodes_ == len(display.training_error) == 9
        assert display.other_line_ is None
    first_round = SCNRegressor(max_nodes=9, random_state=0).fit(*data)
    np.testing.assert_allclose(display.training_error, first_round.error_path_)


def test_growth_in_blocks_counts_steps(data):
    fitted = SCNRegressor(max_nodes=12, block=4, random_state=0).fit(*data)
    display = GrowthDisplay.from_estimator(fitted)
    assert display.kept == len(fitted.error_path_) >= 3
    assert display.ax_.get_xlabel() == "steps of up to 4 nodes"


@pytest.mark.parametrize(
    "estimator",
    [
        RobustSCNRegressor(**QUICK),
        ImprovedRVFLRegressor(15, scope=5.0, random_state=0),
        PRNNRWRegressor(15, scope=5.0, ridge=1e-6, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_rounds_mark_the_one_that_was_kept(estimator, data):
    X, y = data
    fitted = estimator.fit(X, y, X_val=X[1::10], y_val=np.sin(6 * X[1::10, 0]))
    display = RoundsDisplay.from_estimator(fitted)
    np.testing.assert_array_equal(display.line_.get_ydata(), fitted.error_path_)
    np.testing.assert_array_equal(
        display.line_.get_xdata(), np.arange(1, len(fitted.error_path_) + 1)
    )
    number = fitted.n_rounds_
    assert display.kept_.get_xydata().tolist() == [[number, fitted.error_path_[number - 1]]]


# -- all of them ------------------------------------------------------------------------------


@pytest.mark.parametrize("display", DISPLAYS)
def test_drawing_on_given_axes_and_drawing_again(display, model):
    figure, (left, right) = plt.subplots(1, 2)
    shown = display.from_estimator(model, ax=left)
    assert shown.ax_ is left
    assert shown.figure_ is figure
    assert shown.plot(ax=right) is shown
    assert shown.ax_ is right
    assert left.get_xlabel() == right.get_xlabel() != ""
    assert display.from_estimator(model).figure_ is not figure
    figure.draw_without_rendering()


@pytest.mark.parametrize("display", DISPLAYS)
def test_pipelines_are_drawn_as_their_last_step(display, data):
    X, y = data
    line = make_pipeline(StandardScaler(), RobustSCNRegressor(**QUICK)).fit(1e3 * X, y)
    whole, last = display.from_estimator(line), display.from_estimator(line[-1])
    for name, value in vars(last).items():
        if not name.endswith("_"):
            np.testing.assert_array_equal(getattr(whole, name), value)


@pytest.mark.parametrize("display", DISPLAYS)
def test_unfitted_ones_are_refused(display):
    for estimator in (
        RobustSCNRegressor(),
        make_pipeline(StandardScaler(), RobustSCNRegressor()),
    ):
        with pytest.raises(NotFittedError, match="RobustSCNRegressor instance is not fitted yet"):
            display.from_estimator(estimator)
    with pytest.raises(TypeError, match="give a fitted estimator"):
        display.from_estimator("model")


def test_estimators_without_the_numbers_are_refused(data):
    X, y = data
    grown, drawn = SCNRegressor(3, random_state=0).fit(X, y), RVFLRegressor(3).fit(X, y)
    for display in (ResidualDensityDisplay, SuspectRowsDisplay):
        for estimator in (grown, drawn, LinearRegression().fit(X, y)):
            name = type(estimator).__name__
            with pytest.raises(TypeError, match=f"{name} does not judge rows: fit a robust"):
                display.from_estimator(estimator)
    for estimator in (drawn, LinearRegression().fit(X, y)):
        with pytest.raises(TypeError, match="does not grow"):
            GrowthDisplay.from_estimator(estimator)
        with pytest.raises(TypeError, match="keeps no errors of rounds"):
            RoundsDisplay.from_estimator(estimator)
    with pytest.raises(TypeError, match="RSCKDERegressor keeps no errors of rounds"):
        RoundsDisplay.from_estimator(RSCKDERegressor(3, n_rounds=1).fit(X, y))


@pytest.mark.parametrize("display", [ResidualDensityDisplay, SuspectRowsDisplay])
def test_other_rows_than_the_training_rows_are_refused(display, model, data):
    X, y = data
    with pytest.raises(ValueError, match=r"X has 5 rows, but .* on 200: .* from_predictions"):
        display.from_estimator(model, X[:5], y)
    with pytest.raises(ValueError, match="y has 5 rows"):
        display.from_estimator(model, X, y[:5])


def test_style_is_the_callers(model, data):
    suspects = SuspectRowsDisplay.from_estimator(
        model, *data, scatter_kwargs={"color": "black"}, ring_kwargs={"edgecolor": "green"}
    )
    assert suspects.colorbar_ is None  # one colour for all says nothing of weights
    assert matplotlib.colors.same_color(suspects.rings_.get_edgecolor()[0], "green")
    density = ResidualDensityDisplay.from_estimator(
        model,
        line_kwargs={"linewidth": 7},
        weight_kwargs={"c": "green"},
        bar_kwargs={"alpha": 0.25},
    )
    assert density.line_.get_linewidth() == 7
    assert density.weight_line_.get_color() == "green"
    assert density.bars_[0][0].get_alpha() == 0.25
    rounds = RoundsDisplay.from_estimator(model, kept_kwargs={"markersize": 20})
    assert rounds.kept_.get_markersize() == 20


WITHOUT_MATPLOTLIB = """
import sys
sys.modules["matplotlib"] = None
from robustscn.plots import RoundsDisplay
try:
    RoundsDisplay(errors=[1.0], kept=1).plot()
except ImportError as error:
    print(error)
"""


def test_missing_matplotlib_is_named_with_the_cure():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MATPLOTLIB], capture_output=True, text=True, check=True
    )
    assert done.stdout == "RoundsDisplay.plot needs matplotlib: pip install 'robustscn[plots]'\n"


@pytest.mark.site
def test_the_example_draws_every_picture(tmp_path):
    script = Path(__file__).parent.parent / "examples" / "plots.py"
    subprocess.run(
        [sys.executable, "-W", "error", script, "--folder", tmp_path / "new", "--quick"],
        capture_output=True,
        check=True,
    )
    names = {path.name for path in (tmp_path / "new").iterdir()}
    pictures = ("suspects", "residuals", "weights", "growth", "rounds", "plots")
    assert names == {f"{name}.png" for name in pictures}
    for name in names:
        assert plt.imread(tmp_path / "new" / name).std() > 0.05  # not one blank page
