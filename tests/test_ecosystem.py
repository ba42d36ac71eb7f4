"""The estimators among the tools people already use: each gives what it gives by hand."""

import time
from collections import defaultdict

import matplotlib

matplotlib.use("Agg")
import joblib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, StackingRegressor
from sklearn.inspection import (
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robustscn import (
    ImprovedRVFLRegressor,
    RobustBlendRegressor,
    RobustRegressor,
    RobustSCNRegressor,
    RSCKDERegressor,
    RVFLRegressor,
    SCNRegressor,
)
from robustscn.core.weighting import Tukey

FOLDS = KFold(3, shuffle=True, random_state=0)


def flagship(**params):
    quick = {"n_networks": 3, "max_nodes": 12, "n_rounds": 3, "n_jobs": 1, "random_state": 0}
    return RobustSCNRegressor(**{**quick, **params})


def whole(**params):
    """Return one with a second look."""
    return flagship(**{"n_rounds": 5, **params})


def plain(**params):
    return RSCKDERegressor(**{"max_nodes": 12, "n_rounds": 3, "random_state": 0, **params})


def rows(n=150, *, share=0.1, seed=0):
    """Return two inputs of which the first matters, dirty targets, clean ones, which are wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    clean = np.sin(5 * X[:, 0]) + 2.0
    y = clean + 0.1 * rng.normal(size=n)
    wrong = np.zeros(n, dtype=bool)
    wrong[rng.choice(n, round(share * n), replace=False)] = True
    y[wrong] += rng.uniform(1, 3, wrong.sum())
    return X, y, clean, wrong


BOTH = pytest.mark.parametrize("made", [flagship, plain])


# -- scikit-learn -----------------------------------------------------------------------------


@BOTH
def test_pipeline_is_scaling_by_hand(made):
    X, y, _, _ = rows()
    X = X * [1e3, 1e-3]
    whole = make_pipeline(StandardScaler(), made()).fit(X, y)
    scaler = StandardScaler().fit(X)
    alone = made().fit(scaler.transform(X), y)
    np.testing.assert_array_equal(whole.predict(X), alone.predict(scaler.transform(X)))
    np.testing.assert_array_equal(whole[-1].outliers_, alone.outliers_)


@pytest.mark.parametrize(
    ("made", "grid", "best"),
    [
        (flagship, {"model__max_nodes": [1, 20]}, {"model__max_nodes": 20}),
        (plain, {"model__weighting": ["huber", Tukey()], "model__max_nodes": [1, 8]}, None),
    ],
)
def test_grid_search_keeps_what_scored_best(made, grid, best):
    X, y, _, _ = rows()
    line = make_pipeline(StandardScaler(), made())
    line.steps[-1] = ("model", line[-1])
    search = GridSearchCV(
        line, grid, cv=FOLDS, scoring="neg_median_absolute_error", error_score="raise"
    ).fit(X, y)
    by_hand = {
        str(params): cross_val_score(
            clone(line).set_params(**params), X, y, cv=FOLDS, scoring="neg_median_absolute_error"
        ).mean()
        for params in search.cv_results_["params"]
    }
    assert max(by_hand, key=by_hand.__getitem__) == str(search.best_params_)
    assert search.best_params_["model__max_nodes"] > 1
    assert best in (None, search.best_params_)
    again = clone(line).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(search.predict(X), again.predict(X))


@BOTH
def test_feature_names_reach_the_estimator(made):
    X, y, _, _ = rows()
    frame = pd.DataFrame(X, columns=["heat", "flow"])
    line = make_pipeline(StandardScaler(), made()).set_output(transform="pandas").fit(frame, y)
    assert list(line[-1].feature_names_in_) == ["heat", "flow"]
    named = made().fit(frame, y)
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame.rename(columns={"heat": "cold"}))


def test_transformed_targets_are_the_logarithm_by_hand():
    X, y, _, _ = rows()
    whole = TransformedTargetRegressor(flagship(), func=np.log, inverse_func=np.exp).fit(X, y)
    alone = flagship().fit(X, np.log(y))
    np.testing.assert_allclose(whole.predict(X), np.exp(alone.predict(X)), rtol=1e-12)
    np.testing.assert_array_equal(whole.regressor_.outliers_, alone.outliers_)


@BOTH
def test_cross_val_predict_is_the_loop_over_folds(made):
    X, y, clean, _ = rows()
    predicted = cross_val_predict(made(), X, y, cv=FOLDS)
    by_hand = np.empty_like(y)
    for train, test in FOLDS.split(X):
        by_hand[test] = made().fit(X[train], y[train]).predict(X[test])
    np.testing.assert_array_equal(predicted, by_hand)
    assert r2_score(clean, predicted) > 0.9


@BOTH
def test_sample_weight_is_routed_to_fit_and_to_the_score(made):
    X, y, _, wrong = rows()
    weight = np.where(wrong, 0.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = made().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_val_score(model, X, y, cv=FOLDS, params={"sample_weight": weight})
    by_hand = [
        made()
        .fit(X[train], y[train], sample_weight=weight[train])
        .score(X[test], y[test], sample_weight=weight[test])
        for train, test in FOLDS.split(X)
    ]
    np.testing.assert_array_equal(routed, by_hand)
    assert routed.min() > 0.9 > cross_val_score(made(), X, y, cv=FOLDS).max()


def test_trusted_rows_pass_through_the_steps_before():
    X, y, clean, _ = rows()
    trusted, trusted_y = 1e3 * X[:20], clean[:20]
    with sklearn.config_context(enable_metadata_routing=True):
        line = make_pipeline(
            StandardScaler(),
            plain(max_nodes=40).set_fit_request(X_val=True, y_val=True),
            transform_input=["X_val"],
        ).fit(1e3 * X, y, X_val=trusted, y_val=trusted_y)
    scaler = line[0]
    alone = plain(max_nodes=40).fit(
        scaler.transform(1e3 * X), y, X_val=scaler.transform(trusted), y_val=trusted_y
    )
    assert line[-1].n_nodes_ == alone.n_nodes_ < 40
    np.testing.assert_array_equal(line[-1].validation_path_, alone.validation_path_)


@BOTH
def test_permutation_importance_finds_the_input_that_matters(made):
    X, y, clean, _ = rows()
    found = permutation_importance(made().fit(X, y), X, clean, n_repeats=3, random_state=0)
    matters, idle = found.importances_mean
    assert matters > 1.0
    assert abs(idle) < 0.05 * matters


def test_partial_dependence_is_the_mean_prediction():
    X, y, _, _ = rows()
    model = flagship(max_nodes=20).fit(X, y)
    found = partial_dependence(model, X, [0], grid_resolution=7)
    grid = found["grid_values"][0]
    means = [model.predict(np.column_stack([np.full(len(X), v), X[:, 1]])).mean() for v in grid]
    np.testing.assert_allclose(found["average"][0], means, rtol=1e-12)
    assert np.abs(means - (np.sin(5 * grid) + 2)).max() < 0.2
    display = PartialDependenceDisplay.from_estimator(model, X, [0], grid_resolution=7)
    np.testing.assert_allclose(display.lines_[0, 0].get_ydata(), means, rtol=1e-12)
    plt.close("all")


def test_parameters_survive_clone_and_nesting():
    curve = Tukey(cutoff=6.0)
    model = flagship(weighting=curve, scopes=(1.0, 3.0))
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    nested = TransformedTargetRegressor(make_pipeline(StandardScaler(), model))
    nested.set_params(regressor__robustscnregressor__max_nodes=7)
    assert model.max_nodes == 7
    assert nested.get_params()["regressor__robustscnregressor__weighting"] is curve
    X, y, _, _ = rows(80)
    np.testing.assert_array_equal(
        clone(model.fit(X, y)).fit(X, y).inlier_weight_, model.inlier_weight_
    )


@BOTH
def test_bagging_and_stacking(made):
    X, y, clean, _ = rows()
    bagged = BaggingRegressor(made(), n_estimators=3, random_state=0).fit(X, y)
    members = np.mean([member.predict(X) for member in bagged.estimators_], axis=0)
    np.testing.assert_allclose(bagged.predict(X), members, rtol=1e-12)
    assert len({member.random_state for member in bagged.estimators_}) == 3
    assert r2_score(clean, bagged.predict(X)) > 0.9
    stacked = StackingRegressor(
        [("robust", made()), ("line", LinearRegression())], LinearRegression(), cv=FOLDS
    ).fit(X, clean)
    assert stacked.score(X, clean) > 0.95


@BOTH
def test_several_outputs_at_once(made):
    X, y, clean, _ = rows()
    both = np.column_stack([y, -10 * X[:, 1]])
    truth = np.column_stack([clean, -10 * X[:, 1]])
    line = make_pipeline(StandardScaler(), made(max_nodes=25)).fit(X, both)
    assert line.predict(X).shape == both.shape
    assert r2_score(truth, line.predict(X), multioutput="raw_values").min() > 0.9
    assert line[-1].outliers_.shape == (len(X),)


@BOTH
def test_frames_give_what_arrays_give(made):
    X, y, _, _ = rows()
    expected = made().fit(X, y).predict(X)
    table = {"a": X[:, 0], "b": X[:, 1]}
    shuffled = np.random.default_rng(0).permutation(len(y))  # an index is not an order
    for frame, target in (
        (pd.DataFrame(table, index=shuffled), pd.Series(y, index=shuffled)),
        (pl.DataFrame(table), pl.Series("y", y)),
    ):
        # Not to the last bit: columns may lie in memory one after the other.
        predicted = made().fit(frame, target).predict(frame)
        np.testing.assert_allclose(predicted, expected, rtol=1e-9)


def test_fits_in_threads_and_processes_are_those_one_after_another():
    X, y, _, _ = rows(60)

    def fitted(seed):
        return flagship(random_state=seed, n_jobs=2).fit(X, y).predict(X)

    together = joblib.Parallel(n_jobs=3, backend="threading")(
        joblib.delayed(fitted)(seed) for seed in range(3)
    )
    np.testing.assert_array_equal(together, [fitted(seed) for seed in range(3)])
    alone = cross_val_predict(plain(), X, y, cv=FOLDS)
    np.testing.assert_array_equal(cross_val_predict(plain(), X, y, cv=FOLDS, n_jobs=2), alone)


# -- other libraries --------------------------------------------------------------------------


def covered(interval, y):
    return np.mean((interval[:, 0, 0] <= y) & (y <= interval[:, 1, 0]))


def test_mapie_intervals_cover_what_they_promise():
    regression = pytest.importorskip("mapie.regression")
    X, y, _, _ = rows(300)
    held, held_y, _, _ = rows(300, share=0.0, seed=1)
    new, new_y, _, _ = rows(1000, share=0.0, seed=2)
    split = regression.SplitConformalRegressor(flagship(), confidence_level=0.9, prefit=False)
    point, interval = split.fit(X, y).conformalize(held, held_y).predict_interval(new)
    np.testing.assert_array_equal(point, flagship().fit(X, y).predict(new))
    # Noise of 0.1 needs 0.33 even with the truth at hand. Rows for calibration make coverage vary
    # by a standard deviation of 0.017, rows for the test by 0.009.
    assert covered(interval, new_y) == pytest.approx(0.9, abs=0.06)
    assert 0.28 < np.mean(interval[:, 1] - interval[:, 0]) < 0.45
    cross = regression.CrossConformalRegressor(flagship(), confidence_level=0.9, cv=3)
    _, interval = cross.fit_conformalize(held, held_y).predict_interval(new)
    assert covered(interval, new_y) == pytest.approx(0.9, abs=0.06)


def test_cleanlab_finds_wrong_labels_with_ours_as_base():
    learn = pytest.importorskip("cleanlab.regression.learn")
    X, y, clean, wrong = rows(120, share=0.2)
    cleaning = learn.CleanLearning(flagship(max_nodes=10), cv_n_folds=3, n_boot=1, seed=0)
    issues = cleaning.find_label_issues(
        X, y, coarse_search_range=[0.1, 0.2], fine_search_size=1, save_space=False
    )
    assert roc_auc_score(wrong, -issues["label_quality"]) > 0.95
    worst = np.argsort(issues["label_quality"].to_numpy())[: wrong.sum()]
    assert wrong[worst].mean() > 0.8  # by chance it would be a fifth
    np.testing.assert_allclose(issues["given_label"], y)
    refitted = cleaning.fit(X, y, label_issues=issues)
    assert r2_score(clean, refitted.predict(X)) > 0.9


# -- callbacks --------------------------------------------------------------------------------


class Recorder:
    """Writes down what it is told, and ends the fit where `stop` says so."""

    def __init__(self, stop=None, X=None):
        self.told, self.tellers, self.predicted = [], set(), []
        self.stop, self.X = stop, X

    def _write(self, event, estimator, context):
        self.tellers.add(type(estimator).__name__)
        self.told.append((event, context.task_name, context.task_id))

    def setup(self, estimator, context):
        self._write("setup", estimator, context)

    def teardown(self, estimator, context):
        self._write("teardown", estimator, context)

    def on_fit_task_begin(self, estimator, context):
        self._write("begin", estimator, context)
        time.sleep(1e-4)  # lets another thread in, if nothing keeps it out

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self._write("end", estimator, context)
        if self.X is not None and context.task_name == "round":
            self.predicted.append(fitted_estimator.predict(self.X))
        return (context.task_name, context.task_id) == self.stop

    def numbers(self, event, name):
        return [number for told, task, number in self.told if (told, task) == (event, name)]


CALLBACKS = pytest.mark.skipif(
    not hasattr(flagship(), "set_callbacks"), reason="scikit-learn has callbacks from 1.9 on"
)


def properly_nested(told, names):
    """Return whether every task ends inside of the one it began in, at the depth of its name."""
    open_tasks = []
    for event, name, number in told:
        if event == "begin":
            if name != names[len(open_tasks)]:
                return False
            open_tasks.append((name, number))
        elif event == "end" and open_tasks.pop() != (name, number):
            return False
    return not open_tasks


@CALLBACKS
@pytest.mark.parametrize(
    ("model", "n_rounds"),
    [
        (whole(), 5 + 7),
        (whole(n_jobs=3, second_look=False), 5),
        (plain(n_rounds=3), 3),
        (plain(n_rounds=3, rebuild=False), 3),
        (SCNRegressor(12, random_state=0), 1),
        (ImprovedRVFLRegressor(9, n_rounds=4, tol=0.0, random_state=0), 4),
        (RVFLRegressor(9, random_state=0), 0),
    ],
)
def test_callbacks_are_told_of_fit_rounds_and_nodes_in_order(model, n_rounds):
    X, y, _, _ = rows()
    recorder = Recorder()
    told = clone(model).set_callbacks(recorder).fit(X, y)
    assert recorder.told[:2] == [("setup", "fit", 0), ("begin", "fit", 0)]
    assert recorder.told[-2:] == [("end", "fit", 0), ("teardown", "fit", 0)]
    assert properly_nested(recorder.told, ("fit", "round", "nodes"))
    assert recorder.numbers("end", "round") == list(range(n_rounds))
    if hasattr(model, "max_nodes"):
        assert recorder.numbers("end", "nodes")[:3] == [0, 1, 2]
    assert recorder.tellers == {type(model).__name__}
    untold = clone(model).fit(X, y)
    np.testing.assert_array_equal(told.predict(X), untold.predict(X))


@CALLBACKS
def test_callbacks_see_the_model_of_each_round():
    X, y, _, _ = rows()
    recorder = Recorder(X=X)
    plain(n_rounds=3).set_callbacks(recorder).fit(X, y)
    for number, predicted in enumerate(recorder.predicted, start=1):
        np.testing.assert_array_equal(predicted, plain(n_rounds=number).fit(X, y).predict(X))
    recorder = Recorder(X=X)
    model = whole().set_callbacks(recorder).fit(X, y)
    np.testing.assert_array_equal(recorder.predicted[model.n_rounds_ - 1], model.predict(X))


@CALLBACKS
@pytest.mark.parametrize(
    ("model", "stop", "same"),
    [
        (plain(n_rounds=5), ("round", 1), plain(n_rounds=2)),
        (plain(n_rounds=5), ("nodes", 3), plain(n_rounds=1, max_nodes=4)),
        (SCNRegressor(30, random_state=0), ("nodes", 6), SCNRegressor(7, random_state=0)),
    ],
)
def test_a_callback_that_ends_the_fit_leaves_what_a_shorter_one_makes(model, stop, same):
    X, y, _, _ = rows()
    ended = model.set_callbacks(Recorder(stop)).fit(X, y)
    np.testing.assert_array_equal(ended.predict(X), same.fit(X, y).predict(X))


@pytest.fixture(scope="module")
def undisturbed():
    """What a flagship predicts after each round when nobody ends it, and in the end."""
    X, y, _, _ = rows()
    recorder = Recorder(X=X)
    entire = whole().set_callbacks(recorder).fit(X, y)
    return recorder.predicted, entire.predict(X)


@CALLBACKS
@pytest.mark.parametrize("stop", [("nodes", 0), ("round", 0), ("round", 3)])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_a_flagship_ended_early_is_of_use(stop, n_jobs, undisturbed):
    X, y, _, _ = rows()
    recorder = Recorder(stop)
    ended = whole(n_jobs=n_jobs).set_callbacks(recorder).fit(X, y)
    after, entire = undisturbed
    assert recorder.numbers("end", "round") == list(range(len(ended.error_path_)))
    assert recorder.told[-1] == ("teardown", "fit", 0)
    if stop[0] == "round":
        assert len(ended.error_path_) == stop[1] + 1
        np.testing.assert_array_equal(ended.predict(X), after[ended.n_rounds_ - 1])
    assert "callback" in ended.stop_reason_
    assert ended.inlier_weight_.shape == ended.outliers_.shape == y.shape
    assert np.isfinite(ended.predict(X)).all()
    again = ended.set_callbacks().fit(X, y)  # a later fit goes all the way
    np.testing.assert_array_equal(again.predict(X), entire)


@CALLBACKS
def test_a_flagship_ended_while_networks_grow_keeps_the_best_round():
    X, y, _, _ = rows()
    ended = flagship(n_networks=12).set_callbacks(Recorder(("round", 5))).fit(X, y)
    assert ended.n_rounds_ == 1 + np.argmin(ended.error_path_)


@CALLBACKS
def test_a_callback_that_fails_ends_the_fit_and_is_torn_down():
    class Failing(Recorder):
        def on_fit_task_end(self, estimator, context):
            self._write("end", estimator, context)
            raise RuntimeError("no more paper")

    X, y, _, _ = rows()
    for model in (flagship(n_jobs=2), plain(), SCNRegressor(5)):
        recorder = Failing()
        with pytest.raises(RuntimeError, match="no more paper"):
            model.set_callbacks(recorder).fit(X, y)
        assert recorder.told[-1] == ("teardown", "fit", 0)


@CALLBACKS
def test_progress_bar_reaches_the_end(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y, _, _ = rows()
    flagship().set_callbacks(ProgressBar()).fit(X, y)
    fit, *rounds = capsys.readouterr().out.strip().splitlines()
    assert "RobustSCNRegressor - fit" in fit
    assert "100%" in fit
    assert any("round #0" in line and "100%" in line for line in rounds)


@CALLBACKS
def test_callbacks_of_a_search_reach_the_estimator(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar, ScoringMonitor

    X, y, _, _ = rows(80)
    search = GridSearchCV(plain(n_rounds=2), {"max_nodes": [2, 4]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None)).fit(X, y)
    assert "RSCKDERegressor" in capsys.readouterr().out
    monitor = ScoringMonitor(scoring="r2")
    model = plain(n_rounds=3).set_callbacks(monitor).fit(X, y)
    scores = [line["r2"] for line in monitor.get_logs().data if line["task_name"] == "round"]
    assert len(scores) == 3
    assert scores[-1] == pytest.approx(model.score(X, y), abs=1e-12)


def _shares(model, X, y):
    """Return what a progress bar shows after each round or part, and after the fit."""
    from robustscn.cli.progress import FitProgress

    class Shown(FitProgress):
        def on_fit_task_end(self, estimator, context):
            ends = super().on_fit_task_end(estimator, context)
            shown[context.task_name].append(self._bar.tasks[0].completed)
            every.append(shown[context.task_name][-1])
            return ends

    shown, every = defaultdict(list), []
    model.set_callbacks(Shown("fit", quiet=True)).fit(X, y)
    assert every == sorted(every)
    assert (every[-1], shown["fit"][-1]) == (1.0, 1.0)
    return shown


@CALLBACKS
def test_a_round_that_grows_networks_counts_for_more_than_one_that_refits_them():
    pytest.importorskip("rich")
    X, y, _, _ = rows()
    shown = _shares(flagship(n_networks=12, n_rounds=10), X, y)
    steps = np.diff([0.0, *shown["round"]])
    # Batches of four networks, the first before any row is judged, the third in two ways.
    grown = [0, 3, 10, 12, 14]
    refits = np.delete(steps, grown)
    np.testing.assert_allclose(refits, refits[0])
    np.testing.assert_allclose(steps[grown] / refits[0], [11, 11, 31, 16, 16])
    assert shown["nodes"][0] < steps[0] / 2


@CALLBACKS
@pytest.mark.parametrize("model", [RobustBlendRegressor(flagship()), RobustRegressor()])
def test_progress_of_a_fit_within_a_fit_goes_on_to_the_end(model):
    pytest.importorskip("rich")
    X, y, _, _ = rows()
    shown = _shares(model, X, y)
    networks, *taught = shown["part"]
    assert networks == pytest.approx(0.5)  # three of the costs of three teachings
    np.testing.assert_allclose(taught, [4 / 6, 5 / 6, 1.0])
    assert max(shown["round"]) == pytest.approx(networks)
