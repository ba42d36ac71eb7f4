"""ONNX graphs, run by onnxruntime against `predict`."""

import json
import os
import warnings

import numpy as np
import pytest
from sklearn.compose import (
    ColumnTransformer,
    TransformedTargetRegressor,
    make_column_selector,
    make_column_transformer,
)
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import robustscn
from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustBlendRegressor,
    RobustRegressor,
    RobustSCNRegressor,
    RobustTransformedRegressor,
    RSCKDERegressor,
    RVFLRegressor,
    SCNRegressor,
)
from robustscn.datasets import contaminate, load_keel, make_function, make_grinding
from robustscn.onnx import CannotExport, save_onnx, to_onnx

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
pytest.importorskip("skl2onnx")

SHORT = {
    RobustSCNRegressor: {"n_networks": 3, "max_nodes": 30, "n_rounds": 3},
    RSCKDERegressor: {"max_nodes": 20, "n_rounds": 2},
    SCNRegressor: {"max_nodes": 20},
    ImprovedRVFLRegressor: {"n_nodes": 50},
    PRNNRWRegressor: {"n_nodes": 50},
    RVFLRegressor: {"n_nodes": 50, "direct_link": True, "bias": True},
}
DATA = ["function", "concrete", "stock", "treasury", "laser", "grinding"]


def short(kind=RVFLRegressor, **parameters):
    return kind(**SHORT[kind] | parameters, random_state=0)


def run(graph, inputs):
    session = runtime.InferenceSession(graph.SerializeToString())
    (y,) = session.run(["prediction"], inputs)
    return y


def dataset(name):
    if name == "function":
        X, y = make_function(300, rng=0)
    elif name == "grinding":
        X, y = make_grinding(300, rng=0)[:2]
    else:
        if "ROBUSTSCN_DATA" not in os.environ:
            pytest.skip("ROBUSTSCN_DATA names no folder of KEEL files")
        X, y = load_keel(name, return_X_y=True)
    dirty, _ = contaminate(y[:300], 0.2, rng=0)
    return X, y, X[:300], dirty


def rows(n_outputs=1):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(80, 3))
    y = np.stack([np.sin((4 + q) * X[:, 0]) + X[:, q] for q in range(n_outputs)], axis=1)
    return X, y[:, 0] if n_outputs == 1 else y


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("name", DATA)
def test_predictions_are_those_of_predict_on_all_data(name, kind):
    X, y, X_train, y_train = dataset(name)
    model = short(kind).fit(X_train, y_train)
    size = np.ptp(y)

    rounded = X.astype(np.float32)
    single = run(to_onnx(model), {"X": rounded})
    wanted = model.predict(rounded.astype(np.float64))
    assert single.dtype == np.float32
    assert single.shape == wanted.shape
    np.testing.assert_allclose(single, wanted, rtol=0, atol=1e-5 * max(size, np.ptp(wanted)))

    double = run(to_onnx(model, dtype="float64"), {"X": X})
    wanted = model.predict(X)
    assert double.dtype == np.float64
    # Output weights of a pseudo-inverse can be 1e9 times the targets, and their sums cancel.
    cancelling = 0.0
    if kind is not RobustSCNRegressor:
        cancelling = 1e-14 * np.abs(model.output_weights_).sum()
    np.testing.assert_allclose(double, wanted, rtol=0, atol=1e-10 * size + cancelling)


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("kind", [RobustSCNRegressor, RVFLRegressor, SCNRegressor])
def test_every_activation_with_one_and_several_outputs(kind, n_outputs, activation):
    X, y = rows(n_outputs)
    ridge = {} if kind is RobustSCNRegressor else {"ridge": 1e-6}
    model = short(kind, activation=activation, **ridge).fit(X, y)
    # Beyond the training rows as well, where ranks are constant and lines go on.
    wide = np.random.default_rng(1).uniform(-1, 2, size=(200, 3))
    got = run(to_onnx(model, dtype="float64"), {"X": wide})
    np.testing.assert_allclose(got, model.predict(wide), rtol=0, atol=1e-9)
    assert got.shape == (200,) if n_outputs == 1 else (200, n_outputs)


def test_one_column_of_targets_stays_a_column():
    X, y = rows()
    model = short().fit(X, y[:, None])
    assert run(to_onnx(model), {"X": X.astype(np.float32)}).shape == (80, 1)


def test_inputs_that_crowd_together_far_from_zero_keep_their_digits():
    # 1e6 plus steps of 1/16: float32 holds the inputs but not their distances from the knots.
    rng = np.random.default_rng(0)
    X = (1e6 + rng.integers(0, 64, size=(200, 1)) / 16).astype(np.float32)
    y = np.sin(3 * (X[:, 0].astype(np.float64) - 1e6))
    model = short(RobustSCNRegressor).fit(X.astype(np.float64), y)
    wanted = model.predict(X.astype(np.float64))
    np.testing.assert_allclose(run(to_onnx(model), {"X": X}), wanted, rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", [RobustSCNRegressor, RVFLRegressor])
def test_constant_inputs_and_targets(kind):
    X, y = np.full((30, 2), 3.0), np.full(30, 7.0)
    graph = to_onnx(short(kind).fit(X, y), dtype="float64")
    np.testing.assert_allclose(run(graph, {"X": X}), y, rtol=1e-9)


@pytest.mark.parametrize("activation", ["logistic", "tanh", "relu"])
def test_a_missing_input_gives_no_number(activation):
    X, y = rows()
    # The flagship fills what is missing: tests/test_gaps.py.
    graph = to_onnx(short(RSCKDERegressor, activation=activation).fit(X, y))
    X = X.astype(np.float32)
    X[3, 1] = np.nan
    assert np.flatnonzero(np.isnan(run(graph, {"X": X}))).tolist() == [3]


def test_targets_beyond_float32_ask_for_float64():
    X, y = rows()
    model = short().fit(X, 1e40 * y)
    with pytest.raises(CannotExport, match="float64"):
        to_onnx(model)
    got = run(to_onnx(model, dtype="float64"), {"X": X})
    np.testing.assert_allclose(got, model.predict(X), rtol=1e-6)


def test_the_graph_is_valid_small_and_says_what_it_is(tmp_path):
    pd = pytest.importorskip("pandas")
    X, y = rows(2)
    frame = pd.DataFrame(X, columns=["flow", "speed", "ore"])
    model = short(RobustSCNRegressor).fit(frame, y)
    path = save_onnx(model, tmp_path / "model.onnx", target_names=["fine", "coarse"])
    assert os.listdir(tmp_path) == ["model.onnx"]
    graph = onnx.load(path)
    onnx.checker.check_model(graph, full_check=True)
    assert len(graph.graph.node) < 30  # one product for all networks, not one for each
    assert [p.op_type for p in graph.graph.node].count("MatMul") == 2  # nodes, outputs
    about = {prop.key: prop.value for prop in graph.metadata_props}
    assert about["robustscn_version"] == robustscn.__version__
    assert json.loads(about["feature_names"]) == ["flow", "speed", "ore"]
    assert json.loads(about["target_names"]) == ["fine", "coarse"]
    with pytest.raises(ValueError, match="target_names has 1"):
        to_onnx(model, target_names=["fine"])


# Pipelines -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "step",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        RobustScaler(),
        MaxAbsScaler(),
        MinMaxScaler(feature_range=(-1, 1), clip=True),
        SimpleImputer(strategy="median", add_indicator=True),
        SimpleImputer(missing_values=-1.0, strategy="constant", fill_value=4.0),
        PCA(2),
        QuantileTransformer(n_quantiles=20),
        FunctionTransformer(),
        "passthrough",
        make_union(StandardScaler(), SimpleImputer(add_indicator=True)),
        make_column_transformer((StandardScaler(), [2, 0]), remainder="passthrough"),
        make_column_transformer((PCA(1), [1, 2]), ("drop", [0])),
        make_column_transformer((OneHotEncoder(), [3]), remainder=StandardScaler()),
        make_pipeline(StandardScaler(), make_pipeline(PCA(3))),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_before_the_model(step):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(90, 3)), rng.integers(0, 3, size=90) / 8])
    X[::8, 1] = -1.0
    wide = np.vstack([X, 2 * X[:10] * [1, 1, 1, 0.5]])
    missing = isinstance(step, SimpleImputer) and step.missing_values != -1.0
    if missing:
        X[::5, 0] = wide[::7, 0] = np.nan
    model = make_pipeline(step, short(ridge=1e-3)).fit(X, np.sin(X[:, 2]))
    got = run(to_onnx(model, dtype="float64"), {"X": wide})
    np.testing.assert_allclose(got, model.predict(wide), rtol=0, atol=1e-9)
    rounded = wide.astype(np.float32)
    got = run(to_onnx(model), {"X": rounded})
    wanted = model.predict(rounded.astype(np.float64))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-6)


def table():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    n = 120
    frame = pd.DataFrame(
        {
            "flow": rng.normal(size=n) * 1e4,
            "ore": rng.choice(["hard", "soft", "rare", "odd"], size=n, p=[0.5, 0.42, 0.04, 0.04]),
            "level": rng.integers(0, 4, size=n) / 10,
            "on": rng.uniform(size=n) < 0.5,
            "unused": "text",
        }
    )
    frame["flow"] = frame["flow"].astype(np.float32).astype(float)
    frame.loc[::7, "flow"] = np.nan
    frame.loc[::11, "ore"] = None
    return frame, rng.normal(size=n)


def fed(frame, graph, dtype=np.float32):
    """What a caller gives the graph for a frame."""
    texts = {i.name for i in graph.graph.input if i.type.tensor_type.elem_type == 8}
    return {
        name: frame[[name]].astype(object).where(frame[[name]].notna(), "").to_numpy()
        if name in texts
        else frame[[name]].to_numpy(dtype)
        for name in (i.name for i in graph.graph.input)
    }


@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
@pytest.mark.parametrize("drop", [None, "first"])
def test_a_table_with_text_missing_values_and_rare_levels(unknown, drop):
    frame, y = table()
    levels = OneHotEncoder(handle_unknown=unknown, min_frequency=10, drop=drop)
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), ["flow"]),
            ("levels", levels, ["ore", "level"]),
            ("flags", "passthrough", ["on"]),
        ],
        sparse_threshold=0,
        transformer_weights={"numbers": 0.5},
    )
    model = make_pipeline(columns, StandardScaler(), short(RobustSCNRegressor)).fit(frame, y)
    new = frame.copy()
    new.loc[5, "ore"] = "never seen"
    new.loc[6, "level"] = 17.0
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories")
        wanted = model.predict(new)
    graph = to_onnx(model)
    got = run(graph, fed(new, graph))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.ptp(y))
    graph = to_onnx(model, dtype="float64")
    got = run(graph, fed(new, graph, np.float64))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-10)


def test_text_is_filled_by_its_commonest_and_refused_levels_are_no_number():
    frame, y = table()
    frame["ore"] = frame["ore"].astype(object).where(frame["ore"].notna(), np.nan)
    names = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder())
    columns = make_column_transformer((names, ["ore"]), (StandardScaler(), ["level"]))
    columns.set_params(sparse_threshold=0)
    model = make_pipeline(columns, short(ridge=1e-3)).fit(frame, y)
    graph = to_onnx(model)
    got = run(graph, fed(frame, graph))
    np.testing.assert_allclose(got, model.predict(frame), rtol=0, atol=1e-5)
    frame.loc[5, "ore"] = "never seen"  # predict raises; a graph cannot
    with pytest.raises(ValueError, match="unknown"):
        model.predict(frame)
    assert np.flatnonzero(np.isnan(run(graph, fed(frame, graph)))).tolist() == [5]


def test_the_pipeline_that_tables_get():
    tables = pytest.importorskip("robustscn.tables")
    frame, y = table()
    model = tables.table_pipeline(
        frame, ["flow", "ore", "level", "on"], short(RobustSCNRegressor)
    ).fit(frame, y)
    new = frame.copy()
    new.loc[5, "ore"] = "never seen"
    new.loc[6, "flow"] = np.inf
    graph = to_onnx(model)
    got = run(graph, fed(new, graph))
    rounded = new.assign(level=new["level"].astype(np.float32).astype(float))
    np.testing.assert_allclose(got, model.predict(rounded), rtol=0, atol=1e-5 * np.ptp(y))


def test_columns_chosen_by_dtype():
    frame, y = table()
    columns = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="bool")),
        (MinMaxScaler(), ["level"]),
    )
    model = make_pipeline(columns, short(ridge=1e-3)).fit(frame, y)
    graph = to_onnx(model, dtype="float64")
    assert [i.name for i in graph.graph.input] == ["level", "on"]  # no other is used
    got = run(graph, fed(frame, graph, np.float64))
    np.testing.assert_allclose(got, model.predict(frame), rtol=0, atol=1e-10)


def test_the_best_model_of_a_search_is_exported():
    X, y = rows()
    search = GridSearchCV(short(ridge=1e-3), {"n_nodes": [5, 10]}, cv=2).fit(X, y)
    got = run(to_onnx(search, dtype="float64"), {"X": X})
    np.testing.assert_allclose(got, search.predict(X), rtol=0, atol=1e-10)


def test_a_step_without_a_counterpart_is_named():
    X, y = rows()
    model = make_pipeline(StandardScaler(), PowerTransformer(), short()).fit(X, y)
    with pytest.raises(CannotExport, match=r"'powertransformer' \(PowerTransformer\)") as error:
        to_onnx(model)
    assert "\n" not in str(error.value)


def test_dates_are_named_as_what_cannot_be_exported():
    tables = pytest.importorskip("robustscn.tables")
    pd = pytest.importorskip("pandas")
    frame, y = table()
    frame["when"] = pd.date_range("2024-01-01", periods=len(frame), freq="h")
    model = tables.table_pipeline(frame, ["flow", "when"], short()).fit(frame, y)
    with pytest.raises(CannotExport, match="DateParts"):
        to_onnx(model)


def test_what_is_no_model_of_ours_is_refused():
    X, y = rows()
    with pytest.raises(CannotExport, match="TransformedTargetRegressor"):
        to_onnx(TransformedTargetRegressor(short(), transformer=StandardScaler()).fit(X, y))
    with pytest.raises(NotFittedError):
        to_onnx(short())
    with pytest.raises(ValueError, match="float16"):
        to_onnx(short().fit(X, y), dtype="float16")


def test_a_column_named_like_the_output_is_refused():
    pd = pytest.importorskip("pandas")
    X, y = rows()
    frame = pd.DataFrame(X, columns=["a", "b", "prediction"])
    columns = make_column_transformer((StandardScaler(), ["a", "prediction"]))
    with pytest.raises(CannotExport, match="rename the column"):
        to_onnx(make_pipeline(columns, short()).fit(frame, y))


# Intervals -------------------------------------------------------------------------------------


def ends(graph, inputs):
    """Lower and upper ends as `predict_interval` stacks them, and the prediction."""
    session = runtime.InferenceSession(graph.SerializeToString())
    assert [output.name for output in session.get_outputs()] == ["prediction", "lower", "upper"]
    y, lower, upper = session.run(None, inputs)
    assert y.dtype == lower.dtype == upper.dtype
    return np.stack([lower, upper], axis=-1), y


def uneven(n_outputs=0, n=400):
    """Rows of positive targets whose noise depends on the inputs, a tenth of them wrong."""
    rng = np.random.default_rng(3)
    X = rng.uniform(size=(n, 3)).astype(np.float32)
    level = 0.01 + 0.3 * X[:, 1] ** 2
    y = 5 + np.sin(4 * X[:, 0]) + X[:, 2] + level * rng.normal(size=n)
    y[::10] += rng.uniform(-3, 3, size=len(y[::10]))
    if n_outputs:
        y = np.stack(
            [y, *(10 * k + X[:, 2] + 0.1 * rng.normal(size=n) for k in range(1, n_outputs))]
        )
    return X, y.T


@pytest.mark.parametrize("coverage", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("name", DATA)
def test_intervals_are_those_of_predict_interval_on_all_data(name, coverage):
    X, y, X_train, y_train = dataset(name)
    model = short(RobustSCNRegressor).fit(X_train, y_train)
    rounded = X.astype(np.float32)
    wanted = model.predict_interval(rounded.astype(np.float64), coverage)
    got, _ = ends(to_onnx(model, coverage=coverage), {"X": rounded})
    assert got.dtype == np.float32
    size = max(np.ptp(y), np.ptp(wanted))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * size)
    got, _ = ends(to_onnx(model, dtype="float64", coverage=coverage), {"X": X})
    wanted = model.predict_interval(X, coverage)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9 * size)


def judged(name):
    networks = short(RobustSCNRegressor)
    return {
        "networks": short(RobustSCNRegressor, n_networks=4),
        "one network": short(RobustSCNRegressor, n_networks=1),
        "trees": RobustRegressor(judge=networks, random_state=0),
        "trees by themselves": RobustRegressor(judge="clones", random_state=0),
        "both": RobustBlendRegressor(networks, n_folds=2, random_state=0),
        "logarithms": RobustTransformedRegressor(networks, transformation="log"),
        "roots of both": RobustTransformedRegressor(
            RobustBlendRegressor(networks, n_folds=2, random_state=0), transformation="sqrt"
        ),
    }[name]


@pytest.mark.parametrize("n_outputs", [0, 3])
@pytest.mark.parametrize(
    "name",
    [
        "networks", "one network", "trees", "trees by themselves", "both", "logarithms",
        "roots of both",
    ],
)  # fmt: skip
def test_every_estimator_with_intervals_takes_them_along(name, n_outputs):
    X, y = uneven(n_outputs)
    model = judged(name).fit(X, y)
    # Beyond the training rows as well.
    wide = np.random.default_rng(1).uniform(-0.5, 1.5, size=(300, 3)).astype(np.float32)
    wanted = model.predict_interval(wide.astype(np.float64), 0.9)
    for dtype in ("float32", "float64"):
        inputs = {"X": wide.astype(dtype)}
        got, prediction = ends(to_onnx(model, dtype=dtype, coverage=0.9), inputs)
        assert got.shape == wanted.shape
        # Trees are summed in float32 by every runtime.
        by_trees = name not in ("networks", "one network", "logarithms")
        exact = 1e-9 if dtype == "float64" and not by_trees else 1e-5
        np.testing.assert_allclose(got, wanted, rtol=0, atol=exact * np.ptp(wanted))
        np.testing.assert_array_equal(prediction, run(to_onnx(model, dtype=dtype), inputs))


@pytest.mark.parametrize("name", ["networks", "trees by themselves"])
def test_intervals_widen_with_the_noise_in_the_graph_too(name):
    X, y = uneven(n=1000)
    if name == "trees by themselves":  # their noise follows the value
        y = np.sort(y)
        y += np.linspace(0.01, 0.5, 1000) * np.random.default_rng(4).normal(size=1000)
        X = np.column_stack([np.linspace(0, 1, 1000), X[:, 1]]).astype(np.float32)
    model = judged(name).fit(X, y)
    assert model._noise is not None
    got, _ = ends(to_onnx(model, dtype="float64", coverage=0.9), {"X": X.astype(np.float64)})
    wanted = model.predict_interval(X.astype(np.float64), 0.9)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.ptp(wanted))
    width = np.diff(wanted, axis=1)
    assert np.quantile(width, 0.95) > 3 * np.quantile(width, 0.05)


def test_intervals_of_a_pipeline_with_gaps_and_text():
    frame, y = table()
    tables = pytest.importorskip("robustscn.tables")
    names = ["flow", "ore", "level", "on"]
    model = tables.table_pipeline(frame, names, short(RobustSCNRegressor)).fit(frame, y)
    new = frame.copy()
    new.loc[5, "ore"] = "never seen"
    rounded = new.assign(level=new["level"].astype(np.float32).astype(float))
    wanted = model[-1].predict_interval(model[:-1].transform(rounded), 0.8)
    graph = to_onnx(model, coverage=0.8)
    got, _ = ends(graph, fed(new, graph))
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-5 * np.ptp(wanted))


def test_gaps_are_filled_before_intervals_are_asked_for():
    X, y = uneven()
    X[::6, 1] = np.nan
    model = judged("networks").fit(X, y)
    got, _ = ends(to_onnx(model, dtype="float64", coverage=0.9), {"X": X.astype(np.float64)})
    wanted = model.predict_interval(X.astype(np.float64), 0.9)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-9 * np.ptp(wanted))


def test_the_file_says_how_much_its_intervals_cover(tmp_path):
    X, y = uneven(n=100)
    model = judged("networks").fit(X, y)
    graph = onnx.load(save_onnx(model, tmp_path / "model.onnx", coverage=0.9))
    about = {prop.key: prop.value for prop in graph.metadata_props}
    assert json.loads(about["coverage"]) == 0.9
    assert "coverage" not in {prop.key for prop in to_onnx(model).metadata_props}
    assert [output.name for output in to_onnx(model).graph.output] == ["prediction"]


@pytest.mark.parametrize("coverage", [0, 1, 90, -0.1, float("nan")])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    X, y = rows()
    with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
        to_onnx(short(RobustSCNRegressor).fit(X, y), coverage=coverage)


def test_intervals_that_cannot_be_exported_are_refused_with_what_to_do():
    pd = pytest.importorskip("pandas")
    X, y = rows()
    for model in (short(), RobustTransformedRegressor(short(RSCKDERegressor))):
        with pytest.raises(CannotExport, match=r"no intervals.*without coverage.*RobustSCN"):
            to_onnx(model.fit(X, y), coverage=0.9)
    learned_on = short(RobustSCNRegressor).fit(X, y).partial_fit(X, y)
    with pytest.raises(CannotExport, match="partial_fit"):
        to_onnx(learned_on, coverage=0.9)
    frame = pd.DataFrame(X, columns=["a", "b", "upper"])
    columns = make_column_transformer((StandardScaler(), ["a", "upper"]))
    model = make_pipeline(columns, short(RobustSCNRegressor)).fit(frame, y)
    to_onnx(model)
    with pytest.raises(CannotExport, match="'upper': rename the column"):
        to_onnx(model, coverage=0.9)
