"""Columns of numbers that are written for people: "362.6 kg", "16.5 %", "€ 1,234.50", "1.012,40".

A cell is read by itself where it can mean one thing only. "1,234" can mean two: the other cells of
the column decide, then the rest of the file, then the caller; else the column is refused, because
a guess would be wrong by a factor of a thousand. Cells that are no numbers stay what they are, so
that they are found later with their lines. What has the look of a code ("A1", "grade 2", "5W30")
is none of this.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..text import shortened
from .faults import TableError, quoted
from .marks import is_mark
from .units import CURRENCIES, is_known, unit_of

if TYPE_CHECKING:
    import pandas as pd

MOSTLY = 0.8
"""A column is of numbers where this share of its cells are; of one unit where this share has it."""
MANY_NUMBERS = 13
"""More different numbers than this are no grades, whatever stands behind them."""

_BLANKS = "\u0020\u00a0\u2009\u202f"
_NUMBER = re.compile(
    r"(?P<limit>[<>≤≥]=?)?\s*(?P<open>\()?\s*(?P<sign>[-+\u2212]?)\s*"
    r"(?P<currency>[€$£¥]|(?:EUR|USD|GBP|CHF|JPY|CNY)\b)?\s*(?P<late>[-+\u2212]?)\s*"
    rf"(?P<digits>[0-9][0-9.,'\u2019{_BLANKS}]*|[.,][0-9]+)(?P<power>[eE][-+]?[0-9]+)?"
    r"(?P<back>-(?=\s*$|\s*[€$£¥]))?(?P<gap>\s*)"
    r"(?P<unit>[%‰°º℃℉€$£¥A-Za-zµμΩ\[][^\s,;:!?=<>|\"'\\]*(?:\s[A-Za-z°/%][^\s,;:!?=<>|\"'\\]*)?)?"
    r"\s*(?P<close>\))?"
)
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:([.,])[0-9]{3})(?:\1[0-9]{3})*")
_NO_UNITS = re.compile(
    r"(?i)am|pm|a\.m\.|p\.m\.|st|nd|rd|th|uhr|"
    r"(jan|feb|m[aä]r|mrz|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])\w*\.?"
)


@dataclass(frozen=True)
class _Cell:
    """One cell: its digits without sign and unit, and what stood around them."""

    digits: str
    negative: bool
    power: str
    unit: str
    apart: bool
    limit: bool


@dataclass(frozen=True)
class Quantities:
    """A column of cells as numbers.

    Parameters
    ----------
    values : dict of str to float
        Number of each cell that is one.
    unit : str
        Their unit, or nothing.
    decimal : str
        Decimal sign, or nothing where none was met.
    others : tuple of str
        Cells in other units, which are not read.
    notes : tuple of str
        What was assumed, one line each, beginning with a verb.
    """

    values: Mapping[str, float]
    unit: str = ""
    decimal: str = ""
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Notation:
    """How numbers are written, as far as it is known before a column is looked at.

    Parameters
    ----------
    decimal, thousands : str or None
        Signs that the caller names.
    hint : str or None
        Decimal sign of the rest of the file.
    unit : str
        Unit the column had when a model was made.
    """

    decimal: str | None = None
    thousands: str | None = None
    hint: str | None = None
    unit: str = ""


@dataclass
class _Signs:
    """What the signs in the cells of a column can be."""

    decimal: set[str] = field(default_factory=set)
    thousands: set[str] = field(default_factory=set)
    either: set[str] = field(default_factory=set)
    largest_plain: int = -1


def quantities_of(cells: Iterable[str], notation: Notation | None = None) -> Quantities | None:
    """Read a column of texts as numbers, where it is one.

    Parameters
    ----------
    cells : iterable of str
        Texts, stripped; empty ones and marks for nothing do not count.
    notation : Notation or None
        What is known beforehand.

    Returns
    -------
    Quantities or None
        None where the cells are no numbers.

    Raises
    ------
    TableError
        Where they are, but it cannot be told which; beginning with a verb.

    Examples
    --------
    >>> from robustscn.tables.quantities import quantities_of
    >>> quantities_of(["362.6 kg", "1,012.4 kg"]).values
    {'362.6 kg': 362.6, '1,012.4 kg': 1012.4}
    >>> quantities_of(["1.012,40", "950"]).values
    {'1.012,40': 1012.4, '950': 950.0}
    >>> quantities_of(["A1", "A2"]) is None
    True
    """
    known = notation or Notation()
    counts = Counter(cell for cell in cells if not is_mark(cell))
    if not counts:
        return None
    first = list(counts)[:200]
    if sum(_parsed(cell) is not None for cell in first) < 0.5 * len(first):
        return None  # words, which are many and need no closer look
    parsed = {cell: one for cell in counts if (one := _parsed(cell)) is not None}
    if sum(counts[cell] for cell in parsed) < MOSTLY * counts.total():
        return None
    units: Counter[str] = Counter()
    for cell, one in parsed.items():
        units[one.unit] += counts[cell]
    unit, taken = _one_unit(parsed, units, counts.total(), known.unit)
    if not taken:
        return None
    chosen = {cell: one for cell, one in parsed.items() if one.unit in taken}
    signs = _signs(one.digits for one in chosen.values())
    decimal = _decimal(signs, known, chosen)
    values = {}
    for cell, one in chosen.items():
        number = _value(one, decimal, known)
        if number is not None:
            values[cell] = number
    if sum(counts[cell] for cell in values) < 0.5 * counts.total():
        return None
    others = tuple(cell for cell, one in parsed.items() if one.unit not in taken) if unit else ()
    notes = tuple(_notes(unit, units[""], chosen, counts, signs))
    return Quantities(values, unit, decimal, others, notes)


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, with a unit or without.

    Parameters
    ----------
    cell : str
        A text.

    Returns
    -------
    bool
        Whether it begins with digits and ends with nothing but a unit.
    """
    return _parsed(cell) is not None


def _parsed(cell: str) -> _Cell | None:
    match = _NUMBER.fullmatch(cell) if len(cell) <= 60 else None
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    digits = match["digits"].rstrip(_BLANKS)
    apart = len(digits) < len(match["digits"]) or bool(match["gap"]) or bool(match["currency"])
    digits = _without_gaps(digits)
    if digits is None:
        return None
    currency = CURRENCIES.get(match["currency"] or "", match["currency"] or "")
    unit = unit_of(match["unit"] or "")
    if currency and unit and unit != currency:
        return None
    minus = sum(match[part] in ("-", "\u2212") for part in ("sign", "late", "back"))
    if minus > 1 or (match["open"] and minus):
        return None
    return _Cell(
        digits,
        minus == 1 or bool(match["open"]),
        match["power"] or "",
        currency or unit,
        apart,
        match["limit"] is not None,
    )


def _without_gaps(digits: str) -> str | None:
    """Take out blanks and apostrophes where they part thousands, which they do nowhere else."""
    if not re.search(rf"['\u2019{_BLANKS}]", digits):
        return digits
    parted = re.fullmatch(rf"([0-9]{{1,3}}(?:[{_BLANKS}'\u2019][0-9]{{3}})+)([.,][0-9]*)?", digits)
    if parted is None:
        return None
    return re.sub(rf"['\u2019{_BLANKS}]", "", parted[1]) + (parted[2] or "")


def _one_unit(
    parsed: Mapping[str, _Cell], units: Counter[str], total: int, expected: str
) -> tuple[str, set[str]]:
    """Return the unit of a column and which spellings are taken; none where it is no quantity."""
    with_unit = Counter({unit: n for unit, n in units.items() if unit})
    if not with_unit or with_unit.total() < 0.5 * total:
        # Bare numbers; what has a unit among them is found later, and is not guessed at.
        return "", ({""} if units[""] >= MOSTLY * total else set())
    unit, n = with_unit.most_common(1)[0]
    if n >= MOSTLY * with_unit.total():
        cells = [one for one in parsed.values() if one.unit == unit]
        if unit == expected or _is_unit(unit, cells):
            return unit, {unit, ""}
        _refuse_unread(unit, cells)
        return "", set()
    ours = [u for u in with_unit if _is_unit(u, [one for one in parsed.values() if one.unit == u])]
    if sum(with_unit[u] for u in ours) >= MOSTLY * with_unit.total():
        shown = ", ".join(f"{with_unit[u]:,} in {u!r}" for u in ours[:4])
        raise TableError(f"mixes units ({shown})")
    return "", set()


def _is_unit(unit: str, cells: list[_Cell]) -> bool:
    """Return whether what stands behind numbers is a unit and no part of a code or grade."""
    if _NO_UNITS.fullmatch(unit):
        return False
    fractions = any("." in one.digits or "," in one.digits for one in cells)
    many = len({one.digits for one in cells}) > MANY_NUMBERS
    if is_known(unit):
        return len(unit) > 1 or not unit.isalpha() or fractions or many or cells[0].apart
    letters = not any(character.isdigit() for character in unit)
    return letters and (fractions or many) and all(one.apart for one in cells)


def _refuse_unread(unit: str, cells: list[_Cell]) -> None:
    """Raise where numbers are followed by what is no unit: they would become words in silence."""
    if _NO_UNITS.fullmatch(unit) or any(character.isdigit() for character in unit):
        return
    if len({one.digits for one in cells}) > MANY_NUMBERS and any("." in c.digits for c in cells):
        raise TableError(f"has numbers with {shortened(unit)!r} behind them, which is not known")


def _signs(digits: Iterable[str]) -> _Signs:
    found = _Signs()
    for each in digits:
        points, commas = each.count("."), each.count(",")
        if points and commas:
            last = max(".,", key=each.rfind)
            found.decimal.add(last)
            found.thousands.add("," if last == "." else ".")
        elif points + commas == 0:
            found.largest_plain = max(found.largest_plain, int(each))
        else:
            sign = "." if points else ","
            grouped = _GROUPED.fullmatch(each) is not None
            where = (
                found.thousands
                if points + commas > 1
                else (found.either if grouped else found.decimal)
            )
            where.add(sign)
    return found


def _decimal(signs: _Signs, known: Notation, cells: Mapping[str, _Cell]) -> str:
    """Return the decimal sign of a column; nothing where it has none."""
    if known.decimal is not None:
        return known.decimal
    if known.thousands in (".", ","):
        return "." if known.thousands == "," else ","
    if not signs.either:
        return next(iter(signs.decimal)) if len(signs.decimal) == 1 else ""
    if len(signs.decimal) == 1:
        return next(iter(signs.decimal))
    if not signs.decimal and len(signs.thousands) == 1:
        return "." if "," in signs.thousands else ","
    if not signs.decimal and not signs.thousands:
        if known.hint is not None:
            return known.hint
        if len(signs.either) == 1 and 0 <= signs.largest_plain < 1000:
            # 950 and 1,234: with three decimals 950 would have been 950,000.
            return "." if "," in signs.either else ","
    example = next(cell for cell, one in cells.items() if _GROUPED.fullmatch(one.digits))
    raise TableError(
        f"has values such as {shortened(example)!r}, where the sign may part thousands or be "
        "the decimal sign"
    )


def _value(one: _Cell, decimal: str, known: Notation) -> float | None:
    """Return a cell's number; None where it does not fit the signs of the column."""
    digits = one.digits
    points, commas = digits.count("."), digits.count(",")
    if known.decimal is None and known.thousands is None:
        if points and commas:  # the cell says it itself
            decimal = max(".,", key=digits.rfind)
        elif points + commas == 1 and not _GROUPED.fullmatch(digits):
            decimal = "." if points else ","
    other = "," if decimal == "." else "."
    whole, _, fraction = digits.partition(decimal) if decimal else (digits, "", "")
    if other in whole:
        # Groups of two are how India writes lakhs.
        if not re.fullmatch(rf"[0-9]{{1,3}}(?:[{other}][0-9]{{2,3}})*[{other}][0-9]{{3}}", whole):
            return None
        whole = whole.replace(other, "")
    if not re.fullmatch(r"[0-9]*", whole) or not re.fullmatch(r"[0-9]*", fraction):
        return None
    number = float(f"{whole or 0}.{fraction or 0}{one.power}")
    return -number if one.negative else number


def _notes(
    unit: str, n_bare: int, cells: Mapping[str, _Cell], counts: Counter[str], signs: _Signs
) -> Iterable[str]:
    if unit:
        bare = f" ({n_bare:,} without it)" if n_bare else ""
        yield f"is read as numbers in {shortened(unit, 12)!r}{bare}"
    if len(signs.decimal) > 1:
        yield "mixes decimal points and decimal commas: each cell is read by its own"
    if limits := [cell for cell, one in cells.items() if one.limit]:
        n = sum(counts[cell] for cell in limits)
        values = "1 value" if n == 1 else f"{n:,} values"
        yield f"has {values} beyond a limit ({quoted(limits, 3)}): read as the limit itself"


def tidied(
    frame: pd.DataFrame,
    *,
    text: tuple[str, ...] = (),
    decimal: str | None = None,
    thousands: str | None = None,
    hint: str | None = None,
    like: Mapping[str, Any] | None = None,
) -> tuple[pd.DataFrame, list[str], dict[str, dict[str, str]]]:
    """Return a table whose numbers with units, percent, currency or thousands are numbers.

    Parameters
    ----------
    frame : pandas.DataFrame
        As a file has it.
    text : tuple of str, default=()
        Columns that stay text.
    decimal, thousands : str or None
        Signs that the caller names.
    hint : str or None
        Decimal sign of the file, where it has shown one.
    like : mapping or None
        What this function returned for the table a model was made from.

    Returns
    -------
    frame : pandas.DataFrame
        The table; a column in which cells are left that are no numbers is one of texts.
    notes : list of str
        What was assumed.
    reading : dict
        "units" and "decimals" by column.

    Examples
    --------
    >>> import pandas as pd
    >>> from robustscn.tables import tidied
    >>> frame, notes, _ = tidied(pd.DataFrame({"mass": ["1,362.6 kg", "980.2 kg"]}))
    >>> frame["mass"].tolist(), notes
    ([1362.6, 980.2], ["'mass' is read as numbers in 'kg'"])
    """
    import pandas as pd

    notes: list[str] = []
    units: dict[str, str] = {}
    decimals: dict[str, str] = {}
    before = like or {}
    changed: dict[str, Any] = {}
    for name in frame.columns:
        column = frame[name]
        if name in text or not pd.api.types.is_string_dtype(column.dtype):
            continue
        texts = column.astype(object).where(column.notna(), "").map(str).str.strip()
        was_unit = before.get("units", {}).get(name, "")
        was_decimal = before.get("decimals", {}).get(name)
        # Blanks and apostrophes part thousands wherever they stand between digits.
        parting = thousands if thousands in (".", ",") else None
        notation = Notation(decimal, parting, was_decimal or hint, was_unit)
        try:
            found = quantities_of(texts, notation)
        except TableError:
            continue  # what uses the column says so; what does not need not know
        if found is None:
            continue
        plain = pd.to_numeric(texts, errors="coerce")
        numbers = texts.map(found.values)
        if not (numbers.notna() & (plain != numbers)).any():
            continue  # numbers as they are written everywhere
        left = numbers.isna() & (texts != "")
        if left.any():
            written = numbers.map(lambda v: repr(float(v)), na_action="ignore")
            changed[name] = texts.where(numbers.isna(), written).where(texts != "", None)
        else:
            changed[name] = numbers.astype(float)
        notes += [f"{shortened(name)!r} {note}" for note in found.notes]
        if found.others:
            where = texts.index[texts.isin(found.others)]
            notes.append(
                f"{shortened(name)!r} mixes units: {len(where):,} cells are not in "
                f"{shortened(found.unit, 12)!r} ({quoted(found.others, 3)}, first at "
                f"{texts.index.name or 'row'} {where[0]}) and are not read"
            )
        units |= {name: found.unit} if found.unit else {}
        decimals |= {name: found.decimal} if found.decimal else {}
    tidy = frame.assign(**changed) if changed else frame
    return tidy, notes, {"units": units, "decimals": decimals}


def refuse_other_units(units: Mapping[str, str], like: Mapping[str, Any] | None) -> None:
    """Raise where a column has another unit than when a model was made.

    Parameters
    ----------
    units : mapping of str to str
        Unit of each column here.
    like : mapping or None
        What `tidied` returned then.
    """
    before = (like or {}).get("units", {})
    for name, unit in units.items():
        was = before.get(name, unit)
        if was != unit:
            raise TableError(
                f"{shortened(name)!r} is in {shortened(unit)!r} here and was in {shortened(was)!r} "
                "when the model was made: convert the column"
            )


def refuse_unread(texts: pd.Series, name: str) -> None:
    """Raise where a column of texts is one of numbers that cannot be read as it is.

    Parameters
    ----------
    texts : pandas.Series
        Texts, stripped; the index names rows.
    name : str
        The column.
    """
    try:
        found = quantities_of(texts)
    except TableError as error:
        kind = texts.index.name or "row"
        at = next((i for i, cell in texts.items() if _parsed(cell) is not None), texts.index[0])
        remedy = (
            "write all cells in one unit"
            if "mixes units" in str(error)
            else "say which with --decimal"
            if "decimal sign" in str(error)
            else "write plain numbers"
        )
        raise TableError(
            f"{shortened(name)!r} {error}, first at {kind} {at}: {remedy}, or leave the column out "
            f"(--drop {shortened(name)!r})"
        ) from None
    if found is not None:
        raise TableError(
            f"{shortened(name)!r} holds numbers written for people "
            f"({quoted([str(cell) for cell in texts.unique()[:3]], 3)}): pass the table through "
            "robustscn.tables.tidied"
        )
