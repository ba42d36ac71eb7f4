"""The table of suspect rows and the attributes it is made of."""

import numpy as np
import pytest

import reference
from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustSCNRegressor,
    RSCKDERegressor,
    SCNRegressor,
)
from robustscn.core.certainty import certainty_of
from robustscn.core.mixture import kinds_of
from robustscn.core.rows import LocalRows
from robustscn.weighting import Mixture

ROBUST = {
    "ours": RobustSCNRegressor(n_networks=4, max_nodes=20, n_rounds=5, random_state=0),
    "rsc-kde": RSCKDERegressor(20, random_state=0),
    "improved": ImprovedRVFLRegressor(20, scope=5.0, random_state=0),
    "prnnrw": PRNNRWRegressor(20, scope=5.0, ridge=1e-3, random_state=0),
}


def sine(n_rows=120, wrong=(5, 50, 90)):
    X = np.linspace(0, 1, n_rows)[:, None]
    y = 10 * np.sin(6 * X[:, 0])
    y[list(wrong)] += [30.0, -50.0, 40.0][: len(wrong)]
    return X, y


@pytest.mark.parametrize("model", ROBUST.values(), ids=ROBUST)
def test_residuals_are_targets_minus_expectations(model):
    X, y = sine()
    model.fit(X, y)
    np.testing.assert_allclose(model.residuals_, y - model.expected_)
    assert model.residuals_.shape == y.shape
    assert model.residual_scale_.shape == (1,)


@pytest.mark.parametrize("name", ["rsc-kde", "improved", "prnnrw"])
def test_methods_of_the_paper_suspect_rows_beyond_three_robust_standard_deviations(name):
    X, y = sine()
    y += 0.1 * np.random.default_rng(0).normal(size=len(y))
    model = ROBUST[name].fit(X, y)
    scale = reference.trimmed_scale(model.residuals_, np.ones(len(y)))
    np.testing.assert_allclose(model.residual_scale_, [scale], rtol=1e-6)
    np.testing.assert_array_equal(model.outliers_, np.abs(model.residuals_) > 3 * scale)
    assert model.outliers_[[5, 50, 90]].all()


class Watched(RobustSCNRegressor):
    """The flagship, with the round that it kept at hand."""

    def _keep_weights(self, training, last):
        self.kept, self.unit = last, training.scale
        super()._keep_weights(training, last)


def thinning(n_rows=120):
    """Rows of a sine that get fewer to the right, where networks disagree; some are wrong."""
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.uniform(0, 1, n_rows - 20), rng.uniform(1, 3, 20)])[:, None]
    y = 100 * np.sin(6 * X[:, 0]) + 5 * rng.normal(size=n_rows)
    wrong = np.arange(n_rows) % 9 == 0
    y[wrong] += rng.choice([-1, 1], wrong.sum()) * rng.uniform(30, 200, wrong.sum())
    return X, y


def literal_z(e, doubt, relative, floor):
    """Standardised residuals and the scale, written out."""
    ones = np.ones(len(e))
    scale = max(reference.trimmed_scale(e / relative, ones), floor)
    local = np.maximum(scale * relative, floor)
    z = e / np.sqrt(local**2 + doubt**2)
    left = max(reference.trimmed_scale(z, ones), floor / scale)
    return z / left, scale * left


@pytest.mark.parametrize("looked_at", [4096, 64], ids=["all rows", "some rows, then all"])
@pytest.mark.parametrize("weighting", ["geman-mcclure", "tukey", "mixture"])
def test_ours_weighs_and_suspects_rows_by_the_same_residuals(weighting, looked_at, monkeypatch):
    monkeypatch.setattr("robustscn.estimators.flagship.LOOKED_ROWS", looked_at)
    X, y = thinning()
    model = Watched(
        n_networks=4, max_nodes=20, n_rounds=5, weighting=weighting, random_state=0, n_jobs=1
    ).fit(X, y)
    rows, ones, kept = LocalRows(len(y)), np.ones(len(y)), model.kept
    floor = (kept.widest * kept.plan.floor * model.unit)[0]
    doubt, relative = model.unit * kept.doubt[:, 0], np.ones(len(y))
    if kept.noise is not None:
        relative = kept.noise.relative[:, 0]
    # Rounds of the first look are weighed by one scale for all; noise is asked of one that is kept.
    early = kept.plan.widened is None and looked_at > len(y)
    z, _ = literal_z(model.residuals_, doubt, np.ones(len(y)) if early else relative, floor)
    distance = np.abs(z)
    held_up = reference.trimmed_scale(z, ones) < 0.9  # where a fixed curve judges
    if isinstance(kept.plan.weighting, Mixture) and not held_up:
        literal = kinds_of(rows, distance, ones).inlier_weight(distance)
    elif weighting == "tukey":
        literal = np.clip(1 - (z / 4.685) ** 2, 0, None) ** 2
    else:
        literal = (1 + (z / 3) ** 2) ** -2
    np.testing.assert_allclose(model.inlier_weight_, literal / literal.max(), rtol=1e-4, atol=1e-9)
    # Flags are those of the same residuals, measured by the noise around them.
    z, scale = literal_z(model.residuals_, doubt, relative, floor)
    np.testing.assert_allclose(model.residual_scale_, [scale], rtol=1e-6)
    sure, probability = certainty_of(rows, z[:, None], ones, 0.1)
    np.testing.assert_allclose(model.outlier_probability_, probability, rtol=1e-3)
    np.testing.assert_array_equal(model.outliers_, probability > sure.cut)
    assert model.outliers_.sum() > 5
    assert model.estimated_outlier_share_ == pytest.approx(np.mean(probability), rel=1e-3)
    assert np.any(doubt > 0.5 * scale), "doubt would not show"


@pytest.mark.parametrize("name", ["rsc-kde", "improved", "prnnrw"])
def test_methods_of_the_paper_judge_by_their_own_predictions(name):
    X, y = sine()
    model = ROBUST[name].fit(X, y)
    # Residuals below the tolerance count as none.
    np.testing.assert_allclose(model.expected_, model.predict(X), atol=1e-3)


def test_ours_expects_a_wrong_row_where_the_others_are():
    X, y = sine()
    truth = 10 * np.sin(6 * X[:, 0])
    model = ROBUST["ours"].fit(X, y)
    np.testing.assert_allclose(model.expected_[[5, 50, 90]], truth[[5, 50, 90]], atol=1.0)


@pytest.mark.parametrize("model", ROBUST.values(), ids=ROBUST)
def test_the_table_lists_exactly_the_suspect_rows_strangest_first(model):
    X, y = sine()
    names = np.array([f"r{i}" for i in range(len(y))])
    table = model.fit(X, y).outlier_table(names)
    assert sorted(table["row"]) == sorted(names[model.outliers_])
    assert list(table["row"][:3]) == ["r50", "r90", "r5"]
    assert (np.diff(np.abs(table["deviations"])) <= 0).all()
    place = [int(name[1:]) for name in table["row"]]
    np.testing.assert_array_equal(table["observed"], y[place])  # to the last bit
    np.testing.assert_allclose(table["observed"] - table["expected"], table["residual"])
    np.testing.assert_allclose(
        table["residual"] / model.residual_scale_[0], table["deviations"], rtol=1e-12
    )
    np.testing.assert_array_equal(table["inlier_weight"], model.inlier_weight_[place])


def test_of_several_outputs_the_table_shows_the_one_that_deviates():
    X, y = sine(wrong=())
    Y = np.stack([y, y - 3, 100 * y], axis=1)
    Y[7, 1] += 40
    Y[70, 2] -= 4000
    table = ROBUST["ours"].fit(X, Y).outlier_table()
    found = {row: (output, observed) for row, output, observed in table.iloc[:, :3].values}
    assert found[7] == (1, Y[7, 1])
    assert found[70] == (2, Y[70, 2])


def test_an_index_of_another_length_is_an_error():
    X, y = sine()
    with pytest.raises(ValueError, match=r"index names 3 rows, the training data had 120"):
        ROBUST["ours"].fit(X, y).outlier_table(["a", "b", "c"])


def test_growth_path_is_the_mean_over_networks():
    X, y = sine()
    path = ROBUST["ours"].fit(X, y).growth_path_
    assert (np.diff(path["nodes"]) > 0).all()
    assert path["nodes"][-1] <= 20
    # Growing lowers the error plus a small ridge, hence not the error alone to the last digit.
    assert (np.diff(path["training_error"]) <= 1e-3 * path["training_error"][1:]).all()
    assert (path["left_out_error"] >= 0.5 * path["training_error"]).all()


def test_scaling_targets_scales_the_table():
    X, y = sine()
    one = ROBUST["ours"].fit(X, y).outlier_table()
    many = ROBUST["ours"].fit(X, 1024.0 * y).outlier_table()
    np.testing.assert_allclose(1024.0 * one["expected"], many["expected"])
    np.testing.assert_allclose(one["deviations"], many["deviations"])


class Recorder:
    """A callback that writes down what it is told and may end the fit."""

    def __init__(self, enough=None):
        self.enough, self.told = enough, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        self.torn_down = True

    def on_fit_task_begin(self, estimator, context):
        self.told.append(("begin", context.task_name))

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.told.append(("end", context.task_name))
        if context.task_name == "round":
            self.prediction = fitted_estimator.predict(sine()[0])
        return self.told.count(("end", "nodes")) == self.enough


@pytest.mark.parametrize("model", [*ROBUST.values(), SCNRegressor(20)], ids=[*ROBUST, "scn"])
def test_callbacks_are_told_of_every_round(model):
    pytest.importorskip("sklearn.callback")
    X, y = sine()
    recorder = Recorder()
    model.set_callbacks(recorder).fit(X, y)
    model.set_callbacks()
    assert recorder.told[0] == ("begin", "fit")
    assert recorder.told[-1] == ("end", "fit")
    rounds = recorder.told.count(("end", "round"))
    assert rounds == recorder.told.count(("begin", "round")) >= getattr(model, "n_rounds_", 1)
    assert recorder.torn_down


def test_a_callback_ends_the_fit_with_a_model_that_predicts():
    pytest.importorskip("sklearn.callback")
    X, y = sine()
    recorder = Recorder(enough=2)
    model = RobustSCNRegressor(n_networks=4, max_nodes=20, random_state=0)
    model.set_callbacks(recorder).fit(X, y)
    assert recorder.told.count(("end", "round")) == 1
    assert "a callback ended the fit" in model.stop_reason_
    # Each network adds at most one block after the word was given.
    assert model.n_nodes_ <= 4 * 10
    np.testing.assert_array_equal(model.predict(X), recorder.prediction)


def test_a_wrong_target_in_one_of_many_outputs_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    Y = np.sin(3 * X[:, :1] + np.arange(8)) + 0.1 * rng.normal(size=(300, 8))
    Y[:15, 3] += 1.0  # ten standard deviations
    model = RobustSCNRegressor(n_networks=4, max_nodes=20, n_rounds=5, random_state=0).fit(X, Y)
    assert model.outliers_[:15].all()
    assert model.outliers_[15:].mean() < 0.05


class Interrupt(Recorder):
    def on_fit_task_end(self, estimator, context, **_):
        raise KeyboardInterrupt


def test_an_interrupted_refit_leaves_the_old_model():
    pytest.importorskip("sklearn.callback")
    X, y = sine()
    model = RobustSCNRegressor(n_networks=4, max_nodes=20, n_rounds=5, random_state=0).fit(X, y)
    before = model.predict(X)
    with pytest.raises(KeyboardInterrupt):
        model.set_callbacks(Interrupt()).fit(100 * X + 7, y)
    np.testing.assert_array_equal(model.predict(X), before)
