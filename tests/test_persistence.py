"""Model files: what goes in comes out to the bit, and nothing in a file is ever run."""

import hashlib
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from importlib import import_module

import joblib
import numpy as np
import pytest
import skops.io
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import robustscn
from robustscn import (
    ImprovedRVFLRegressor,
    PRNNRWRegressor,
    RobustSCNRegressor,
    RSCKDERegressor,
    RVFLRegressor,
    SCNRegressor,
)
from robustscn.core.weighting import NAMED, Curve, Tukey
from robustscn.persistence import (
    FORMAT,
    TRUSTED,
    DamagedModel,
    NotAModel,
    OtherVersion,
    TooLargeModel,
    UntrustedModel,
    load,
    save,
)

SHORT = {
    RobustSCNRegressor: {"n_networks": 3, "max_nodes": 20, "n_rounds": 3},
    RSCKDERegressor: {"max_nodes": 15, "n_rounds": 2},
    SCNRegressor: {"max_nodes": 15},
    ImprovedRVFLRegressor: {"n_nodes": 20},
    PRNNRWRegressor: {"n_nodes": 20},
    RVFLRegressor: {"n_nodes": 20, "direct_link": True, "bias": True},
}


def rows(n_outputs=1, dtype=np.float64):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(70, 3))
    y = np.stack([np.sin((4 + q) * X[:, 0]) + X[:, q] for q in range(n_outputs)], axis=1)
    y[::9] += 4.0
    y = y[:, 0] if n_outputs == 1 else y
    return X.astype(dtype), y.astype(dtype)


def short(kind=RVFLRegressor, **parameters):
    return kind(**SHORT[kind], random_state=0, **parameters)


@pytest.fixture(scope="module")
def model():
    return short().fit(*rows())


def fitted_values(estimator):
    """Public fitted attributes."""
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def assert_same(value, other):
    if isinstance(value, dict):
        assert value.keys() == other.keys()
        for key in value:
            assert_same(value[key], other[key])
    else:
        assert type(value) is type(other)
        np.testing.assert_array_equal(value, other, strict=isinstance(value, np.ndarray))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("kind", SHORT)
def test_a_loaded_model_is_the_saved_one_to_the_bit(tmp_path, kind, n_outputs, dtype):
    X, y = rows(n_outputs, dtype)
    model = short(kind).fit(X, y)
    loaded = load(save(model, tmp_path / "model.skops")).model
    assert type(loaded) is kind
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert fitted_values(model)  # else the next line says nothing
    assert_same(fitted_values(loaded), fitted_values(model))
    if hasattr(model, "inlier_weight_"):
        assert {"inlier_weight_", "outliers_"} <= fitted_values(loaded).keys()
    # Refitted, it is what a new one would be: parameters and seed have survived.
    refitted = loaded.fit(X, y).predict(X)
    np.testing.assert_array_equal(refitted, clone(model).fit(X, y).predict(X), strict=True)


@pytest.mark.parametrize("weighting", [*NAMED, Tukey(cutoff=3.0)])
def test_every_weighting_is_kept(tmp_path, weighting):
    model = short(ImprovedRVFLRegressor, weighting=weighting).fit(*rows())
    loaded = load(save(model, tmp_path / "model.skops")).model
    assert loaded.weighting == weighting
    np.testing.assert_array_equal(loaded.fit(*rows()).inlier_weight_, model.inlier_weight_)


@pytest.mark.parametrize("kind", SHORT)
@pytest.mark.parametrize("library", ["pickle", "joblib"])
def test_pickle_and_joblib_bring_models_back(tmp_path, kind, library):
    X, y = rows()
    model = short(kind).fit(X, y)
    if library == "pickle":
        loaded = pickle.loads(pickle.dumps(model))
    else:
        joblib.dump(model, tmp_path / "model.joblib")
        loaded = joblib.load(tmp_path / "model.joblib")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert_same(fitted_values(loaded), fitted_values(model))


def frame():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "flow": rng.uniform(size=80),
            "ore": rng.choice(["hard", "soft", "rare"], size=80, p=[0.5, 0.45, 0.05]),
            "on": rng.uniform(size=80) < 0.5,
        }
    )
    data.loc[::7, "flow"] = np.nan
    return data, rng.normal(size=80)


def table_model():
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(strategy="median", add_indicator=True), ["flow"]),
            (
                "names",
                OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=10),
                ["ore"],
            ),
        ],
        remainder="passthrough",
        sparse_threshold=0,
    )
    return Pipeline([("columns", columns), ("scale", StandardScaler()), ("model", short())])


def test_a_pipeline_on_a_table_is_kept_with_its_columns(tmp_path):
    data, y = frame()
    model = table_model().fit(data, y)
    loaded = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(data), model.predict(data), strict=True)
    assert loaded.feature_names_in_.tolist() == ["flow", "ore", "on"]
    refitted = loaded.fit(data, y)
    np.testing.assert_array_equal(refitted.predict(data), model.predict(data), strict=True)


def test_a_transformed_target_is_kept(tmp_path):
    X, y = rows()
    model = TransformedTargetRegressor(short(), transformer=StandardScaler()).fit(X, y)
    loaded = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)


def test_the_file_says_what_wrote_it_and_keeps_what_it_was_given(tmp_path, model):
    info = {"features": ["a", "b"], "settings": {"seed": 1}, "source": "dirty.csv", "none": None}
    saved = load(save(model, str(tmp_path / "model.skops"), info=info))
    assert saved.info == info
    assert saved.versions["robustscn"] == robustscn.__version__
    assert saved.versions["numpy"] == np.__version__
    assert saved.created.endswith("+00:00")


def test_a_file_that_skops_wrote_is_loaded_too(tmp_path, model):
    skops.io.dump(model, tmp_path / "plain.skops")
    saved = load(tmp_path / "plain.skops")
    X, _ = rows()
    np.testing.assert_array_equal(saved.model.predict(X), model.predict(X), strict=True)
    assert (saved.info, saved.created, saved.versions) == ({}, None, {})


def test_callbacks_are_no_part_of_the_file_and_stay_on_the_model(tmp_path):
    pytest.importorskip("sklearn.callback")
    from sklearn.callback import ProgressBar

    X, y = rows()
    model = make_pipeline(StandardScaler(), short()).fit(X, y)
    bar = ProgressBar()
    model[-1].set_callbacks(bar)
    loaded = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X), strict=True)
    assert "_skl_callbacks" not in vars(loaded[-1])
    assert model[-1]._skl_callbacks == [bar]


# What is refused -------------------------------------------------------------------------------


def one_line(error, *words):
    text = str(error.value)
    assert "\n" not in text
    for word in words:
        assert word in text
    return text


class Touch:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


@pytest.mark.parametrize("writer", [pickle.dump, joblib.dump])
def test_a_pickle_is_refused_and_not_run(tmp_path, writer):
    touched = tmp_path / "touched"
    with open(tmp_path / "model.pkl", "wb") as file:
        writer(Touch(touched), file)
    pickle.loads((tmp_path / "model.pkl").read_bytes()).close()
    assert touched.exists(), "the pickle would have done harm"
    touched.unlink()
    with pytest.raises(NotAModel) as error:
        load(tmp_path / "model.pkl")
    one_line(error, "pickle", "model.pkl")
    assert not touched.exists()


def node(module, name, loader, **rest):
    """A node of the format of skops, as one who wants to do harm would write it."""
    return {"__module__": module, "__class__": name, "__loader__": loader, **rest}


def crafted(schema):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        members.writestr("schema.json", json.dumps(schema | {"protocol": 2}))
    return file.getvalue()


def text(value):
    return node("builtins", "str", "JsonNode", content=json.dumps(value))


def arguments(*values):
    return node("builtins", "tuple", "TupleNode", content=[text(value) for value in values])


def attacks(touched):
    path = str(touched)
    system = node("posix", "system", "FunctionNode")
    yield node("io", "open", "ConstructorFromReduceNode", content=arguments(path, "w"))
    yield node("pathlib", "Path", "ConstructorFromReduceNode", content=arguments(path))
    yield node(
        "functools",
        "partial",
        "PartialNode",
        content={
            "func": system,
            "args": arguments(f"touch {path}"),
            "kwds": text({}),
            "namespace": text(None),
        },
    )
    yield node(
        "operator", "methodcaller", "OperatorFuncNode", attrs=arguments("system", f"touch {path}")
    )
    yield node("robustscn.persistence", "write_whole", "FunctionNode")
    yield node(
        "robustscn.persistence",
        "write_whole",
        "ConstructorFromReduceNode",
        content=arguments(path, "x"),
    )


@pytest.mark.parametrize("number", range(6))
def test_a_crafted_file_is_refused_and_not_run(tmp_path, number):
    touched = tmp_path / "touched"
    (tmp_path / "crafted.skops").write_bytes(crafted(list(attacks(touched))[number]))
    with pytest.raises(UntrustedModel) as error:
        load(tmp_path / "crafted.skops")
    one_line(error, "trusted")
    assert not touched.exists()


def wrapped(content, **changes):
    """A file of ours around the bytes of a model, with a right checksum unless it is changed."""
    about = {
        "format": FORMAT,
        "created": "2030-01-01T00:00:00+00:00",
        "versions": {"robustscn": robustscn.__version__},
        "sha256": hashlib.sha256(content).hexdigest(),
        "info": {},
    } | changes
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as members:
        members.writestr("robustscn.json", json.dumps(about))
        members.writestr("model.skops", content)
    return file.getvalue()


def test_a_right_checksum_makes_no_file_trusted(tmp_path):
    touched = tmp_path / "touched"
    attack = next(iter(attacks(touched)))
    (tmp_path / "crafted.skops").write_bytes(wrapped(crafted(attack)))
    with pytest.raises(UntrustedModel):
        load(tmp_path / "crafted.skops")
    assert not touched.exists()


class Hard(Curve):
    """A caller's own weighting."""

    def weight(self, distance):
        return 1.0 * (distance < 3)


def test_a_type_of_the_caller_is_loaded_only_by_name(tmp_path):
    model = short(ImprovedRVFLRegressor, weighting=Hard()).fit(*rows())
    path = save(model, tmp_path / "model.skops")
    name = f"{Hard.__module__}.Hard"
    with pytest.raises(UntrustedModel) as error:
        load(path)
    one_line(error, name)
    assert isinstance(load(path, trusted=[name]).model.weighting, Hard)


def test_trusted_names_are_types_that_exist():
    for name in TRUSTED:
        module, _, kind = name.rpartition(".")
        assert isinstance(getattr(import_module(module), kind), type), name


def test_a_file_cut_anywhere_is_refused(tmp_path, model):
    whole = save(model, tmp_path / "model.skops").read_bytes()
    for length in [*range(1, 40), *range(40, len(whole), 997), len(whole) - 1]:
        (tmp_path / "cut.skops").write_bytes(whole[:length])
        with pytest.raises((DamagedModel, NotAModel)) as error:
            load(tmp_path / "cut.skops")
        one_line(error, "cut.skops")


def test_a_file_with_a_changed_bit_is_refused_or_the_same(tmp_path, model):
    whole = save(model, tmp_path / "model.skops").read_bytes()
    X, _ = rows()
    wanted, refused = model.predict(X), 0
    rng = np.random.default_rng(0)
    ends = np.concatenate([np.arange(120), len(whole) - 1 - np.arange(140)])
    for place in np.concatenate([ends, rng.integers(len(whole), size=150)]):
        changed = bytearray(whole)
        changed[place] ^= 1 << rng.integers(8)
        (tmp_path / "bit.skops").write_bytes(changed)
        try:
            loaded = load(tmp_path / "bit.skops").model
        except (DamagedModel, NotAModel, OtherVersion, TooLargeModel):
            refused += 1
        else:  # a date or a flag of the archive, which is no part of the model
            np.testing.assert_array_equal(loaded.predict(X), wanted, strict=True)
    assert refused > 200


def test_a_model_other_than_the_checksum_says_is_refused(tmp_path, model):
    content = skops.io.dumps(model)
    (tmp_path / "other.skops").write_bytes(wrapped(content, sha256="0" * 64))
    with pytest.raises(DamagedModel) as error:
        load(tmp_path / "other.skops")
    one_line(error, "damaged", "other.skops")


@pytest.mark.parametrize("changes", [{"format": FORMAT + 1}, {"versions": {"robustscn": "97.3.1"}}])
def test_a_file_of_another_version_says_what_to_install(tmp_path, model, changes):
    (tmp_path / "other.skops").write_bytes(wrapped(skops.io.dumps(model), **changes))
    with pytest.raises(OtherVersion) as error:
        load(tmp_path / "other.skops")
    one_line(error, "pip install", "other.skops", robustscn.__version__)


def zipped(**members):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", NotAModel),
        (b"a,b\n1,2\n", NotAModel),
        (bytes(range(256)), NotAModel),
        (zipped(data_pkl=b"\x80"), NotAModel),
        (zipped(schema_json=b"{}"), DamagedModel),
        (zipped(schema_json=b"[" * 100_000), DamagedModel),
        (zipped(robustscn_json=b"[]", model_skops=b""), DamagedModel),
        (zipped(robustscn_json=b"{}", model_skops=b""), DamagedModel),
        (crafted(text("a string")), NotAModel),
    ],
)
def test_other_files_are_refused_with_a_sentence(tmp_path, content, kind):
    (tmp_path / "odd").write_bytes(content)
    with pytest.raises(kind) as error:
        load(tmp_path / "odd")
    one_line(error, "odd")


def test_all_refusals_are_value_errors():
    for kind in (NotAModel, DamagedModel, OtherVersion, TooLargeModel, UntrustedModel):
        assert issubclass(kind, ValueError)


def test_only_models_and_plain_information_are_saved(tmp_path, model):
    with pytest.raises(TypeError, match="only models"):
        save({"a": 1}, tmp_path / "model.skops")
    with pytest.raises(TypeError, match="only models"):
        save(StandardScaler(), tmp_path / "model.skops")
    with pytest.raises(TypeError, match="JSON"):
        save(model, tmp_path / "model.skops", info={"array": np.ones(3)})
    assert os.listdir(tmp_path) == []


class Unwritable(BaseEstimator):
    """Has a part that skops cannot write."""

    def __init__(self):
        self.part = (number for number in ())

    def predict(self, X):
        return X


def test_a_save_that_fails_leaves_the_old_file_and_no_other(tmp_path, model):
    path = save(model, tmp_path / "model.skops")
    before = path.read_bytes()
    with pytest.raises(TypeError):
        save(Unwritable(), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["model.skops"]
    with pytest.raises(FileNotFoundError):
        save(model, tmp_path / "no such folder" / "model.skops")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):  # fails once all is written
        save(model, tmp_path / "folder")
    assert sorted(os.listdir(tmp_path)) == ["folder", "model.skops"]


def test_saving_brings_in_no_other_array_library(tmp_path):
    # skops walks through all of scikit-learn, which has a door to each: seconds where installed.
    code = (
        "import sys; from robustscn import RVFLRegressor; from robustscn.persistence import save\n"
        "save(RVFLRegressor(2).fit([[0.0], [1.0], [2.0]], [0, 1, 2]), sys.argv[1])\n"
        "print(sorted({'torch', 'dask', 'cupy'} & set(sys.modules)))\n"
        "import sklearn.externals.array_api_compat.dask"  # the door is as it was
    )
    command = [sys.executable, "-c", code, str(tmp_path / "model.skops")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
