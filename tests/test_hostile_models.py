"""Model files from strangers: no code, no process, no file, no crash, and a sentence for each."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import skops
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

import crafted
from robustscn import RVFLRegressor
from robustscn.cli import main
from robustscn.persistence import (
    DamagedModel,
    NotAModel,
    OtherVersion,
    TooLargeModel,
    UntrustedModel,
    inspect,
    load,
    save,
)

pytestmark = pytest.mark.hostile

N_FILES = 500
REFUSALS = (DamagedModel, NotAModel, OtherVersion, TooLargeModel, UntrustedModel)
HERE = Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def valid():
    crafted._valid.update(crafted.valid())
    return crafted._valid


def refusal(path, name):
    """The sentence by which a file is refused."""
    try:
        load(path)
    except REFUSALS as error:
        return str(error)
    return pytest.fail(f"{name} was loaded")


def test_hundreds_of_crafted_files_run_nothing_and_crash_nothing(tmp_path):
    touched = tmp_path / "touched"
    files = tmp_path / "files"
    files.mkdir()
    for number, (_, content) in enumerate(crafted.crafted(N_FILES, 0, str(touched))):
        (files / f"{number:05}.skops").write_bytes(content)
    done = subprocess.run(
        [sys.executable, str(HERE / "guarded.py"), str(files)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parent / "src"), str(HERE)])},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    facts = json.loads(done.stdout)
    assert facts["noted"] == []
    assert (facts["children"], facts["threads"]) == (0, 0)
    assert not touched.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["files"]
    assert sum(facts["outcomes"].values()) == N_FILES
    assert facts["outcomes"]["UntrustedModel"] > 50  # attacks are among them
    assert facts["outcomes"]["predicted"] > 5  # and files that get as far as a prediction


def attacks(tmp_path):
    for kind in ("_by_type", "_by_setting", "_by_index", "_by_archive"):
        taken = (str(tmp_path / "touched"),) if kind in ("_by_type", "_by_setting") else ()
        for name, content in getattr(crafted, kind)(*taken):
            if name != "unfitted":  # which is no attack, and no model yet
                yield name, content


def test_every_attack_known_by_name_is_refused_in_one_sentence(tmp_path):
    n = 0
    for name, content in attacks(tmp_path):
        for whole in (content, crafted.outer(content)):
            (tmp_path / "model.skops").write_bytes(whole)
            text = refusal(tmp_path / "model.skops", name)
            assert text.isprintable(), name
            assert len(text) <= 1000, name
            n += 1
    assert n > 150
    assert os.listdir(tmp_path) == ["model.skops"]


def test_an_array_that_is_not_what_it_says_is_refused_before_it_is_read(tmp_path, monkeypatch):
    import skops.io

    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("built"))
    liars = ("there is", "terabyte", "below zero", "beyond numbers", "objects", "records", "fields")
    n = 0
    for name, content in crafted._by_array():
        if name.endswith(liars):
            (tmp_path / "model.skops").write_bytes(content)
            assert "damaged" in refusal(tmp_path / "model.skops", name)
            n += 1
    assert n == 3 * 8


def test_what_the_attacks_are_made_from_is_taken(valid, tmp_path):
    for content in valid.values():
        (tmp_path / "model.skops").write_bytes(crafted.outer(content))
        assert hasattr(load(tmp_path / "model.skops").model, "predict")


def test_a_setting_is_taken_when_the_caller_names_its_type(valid, tmp_path):
    schema, files = crafted.taken_apart(valid["table"])
    columns = crafted.of_class(schema, "ColumnTransformer")[0]
    crafted.attributes(columns)["n_jobs"] = crafted.plain(2)
    (tmp_path / "model.skops").write_bytes(crafted.put_together(schema, files))
    name = "sklearn.compose._column_transformer.ColumnTransformer"
    with pytest.raises(UntrustedModel, match=f"n_jobs of {name}, which starts processes"):
        load(tmp_path / "model.skops")
    assert load(tmp_path / "model.skops", trusted=[name]).model.named_steps["columns"].n_jobs == 2


@pytest.mark.parametrize("scaler", [MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler])
def test_pipelines_with_scalers_are_taken(tmp_path, scaler):
    X = np.random.default_rng(0).random((30, 2))
    model = make_pipeline(scaler(), RVFLRegressor(5, random_state=0)).fit(X, X[:, 0])
    loaded = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


@pytest.mark.parametrize(
    "settings", [{}, {"drop": "first"}, {"min_frequency": 8}, {"drop": "if_binary"}]
)
@pytest.mark.parametrize("numeric", [False, True])
def test_encoders_of_every_kind_are_taken(tmp_path, settings, numeric):
    frame = crafted.table()
    if numeric:
        frame["mill"] = frame["mill"].map({"A": 1.5, "B": np.nan, "C": 0.0, "D": 7.0, "E": -2.0})
    columns = ColumnTransformer([("m", OneHotEncoder(sparse_output=False, **settings), ["mill"])])
    model = make_pipeline(columns, RVFLRegressor(5, random_state=0)).fit(frame, frame["size"])
    loaded = load(save(model, tmp_path / "model.skops")).model
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))


def test_the_list_of_types_is_ours_and_short():
    from robustscn.persistence import TRUSTED

    theirs = {name for name in TRUSTED if name.startswith("sklearn.")}
    assert len(theirs) < 15
    assert not [name for name in theirs if "linear_model" in name or "ensemble" in name]


# Sizes


def test_a_bomb_is_refused_before_it_is_unpacked_unless_allowed(valid, tmp_path, monkeypatch):
    import zipfile

    schema, files = crafted.taken_apart(valid["growing"])
    bomb = crafted.put_together(schema, files | {"a": bytes(70_000_000)}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    (tmp_path / "bomb.skops").write_bytes(bomb)
    read = zipfile.ZipFile.read
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(TooLargeModel, match="times its size; the limit is 64"):
        load(tmp_path / "bomb.skops")
    monkeypatch.setattr(zipfile.ZipFile, "read", read)
    assert load(tmp_path / "bomb.skops", max_size=10**9).model.n_nodes_ > 0
    with pytest.raises(TooLargeModel, match="the limit is 1 kB"):
        load(tmp_path / "bomb.skops", max_size=1000)


def test_a_device_without_end_is_no_model(capsys):
    assert main(["info", "/dev/zero"]) == 2
    assert "zero is no model" in capsys.readouterr().err


def test_an_old_skops_is_not_used(valid, tmp_path, monkeypatch):
    (tmp_path / "model.skops").write_bytes(valid["growing"])
    monkeypatch.setattr(skops, "__version__", "0.13.0")
    with pytest.raises(ImportError, match=r"skops 0\.16 or newer"):
        load(tmp_path / "model.skops")


# Looking inside


def test_info_shows_what_is_inside_and_builds_nothing(valid, tmp_path, capsys, monkeypatch):
    import skops.io

    monkeypatch.setattr(skops.io, "loads", lambda *_, **__: pytest.fail("built"))
    path = tmp_path / "model.skops"
    path.write_bytes(crafted.outer(valid["table"], source="measure\x1b[31mments.csv"))
    assert main(["info", str(path)]) == 0
    out = capsys.readouterr().out
    assert "robustscn.estimators.flagship.RobustSCNRegressor (1)" in out
    assert "target    'size'" in out
    assert "loads     yes" in out
    assert "\x1b" not in out
    assert main(["info", str(path), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["info"]["targets"] == ["size"]
    assert facts["refused"] is None
    assert facts["unpacked_bytes"] >= facts["array_bytes"] > 0


def test_info_says_why_a_file_would_be_refused(tmp_path, capsys):
    named = dict(crafted._by_type(str(tmp_path / "touched")))
    (tmp_path / "model.skops").write_bytes(named["sparse coefficients"])
    contents = inspect(tmp_path / "model.skops")
    assert contents.types["scipy.sparse._csr.csr_matrix"] == 1
    assert "LinearRegression" in contents.refused
    assert main(["info", str(tmp_path / "model.skops")]) == 0
    assert "loads     no: model.skops was not loaded" in capsys.readouterr().out


@pytest.mark.parametrize("what", ["info", "predict"])
def test_text_from_a_file_is_printable_and_bounded_on_the_terminal(tmp_path, capsys, what):
    crafted.table().to_csv(tmp_path / "data.csv", index=False)
    for name, content in crafted._by_words():
        (tmp_path / "model.skops").write_bytes(content)
        data = [str(tmp_path / "data.csv")] if what == "predict" else []
        code = main([what, str(tmp_path / "model.skops"), *data])
        streams = capsys.readouterr()
        assert code in (0, 2), (name, streams.err)
        shown = (streams.out + streams.err).replace("\n", "")
        assert shown.isprintable(), name
        assert len(shown) < 6000, name
        assert "curl" not in shown, name
