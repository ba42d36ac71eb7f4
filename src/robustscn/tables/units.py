"""Units as they are written behind numbers, and which spellings mean the same.

The list need not be complete: a unit that is not on it is still read where every cell of a column
has it. It is there to tell "12 m" from "12 M", and a unit from a part of a code.
"""

from __future__ import annotations

CURRENCIES = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY"}
_CODES = "EUR USD GBP JPY CHF CNY SEK NOK DKK PLN CZK INR BRL AUD CAD ZAR"
_KNOWN = """
% ‰ ppm ppb ppt vol% wt% %rh %rF %v/v %w/w mol% mg/l mg/L g/l g/L µg/l µg/L mg/m3 mg/Nm3 µg/m3
kg g mg µg t to ton tons tonne tonnes lb lbs oz kt Mt
m mm cm km µm nm in inch ft yd mi mil m2 cm2 mm2 ft2 m3 cm3 mm3 ft3 Nm3 Sm3 l L ml mL cl hl gal bbl
s sec ms µs min h hr hrs d day days hours seconds minutes rpm Hz kHz MHz GHz 1/min 1/s 1/h
°C °F K degC degF
Pa hPa kPa MPa bar mbar barg bara psi psig psia atm mmHg inHg torr mmH2O inH2O
W kW MW GW mW VA kVA MVA var kvar Wh kWh MWh GWh J kJ MJ GJ cal kcal Btu BTU hp PS
V mV kV A mA µA kA Ω kΩ MΩ ohm S mS µS µS/cm mS/cm S/cm F µF nF pF T mT
N kN Nm kNm N/mm2 lbf ft-lb
kg/h kg/s kg/min t/h t/d lb/h g/s g/min m3/h m3/s m3/min m3/d Nm3/h Sm3/h l/h L/h l/s L/s l/min
L/min ml/min mL/min gpm scfm cfm bpd bbl/d
m/s km/h mph ft/s m/min mm/s mm/h g/cm3 kg/m3 g/ml kg/l t/m3 lb/ft3 cP mPas mPa·s Pas Pa·s cSt mm2/s
kJ/kg kJ/kgK W/m2 W/mK kWh/t MJ/kg °Bx pH NTU FNU dB dBA lx mol mmol mol/l mmol/l cfu/ml
pcs pieces units Stk Stück
"""
KNOWN = {unit: unit for unit in [*_KNOWN.split(), *_CODES.split()]}
_SAME = {
    "℃": "°C", "ºC": "°C", "deg C": "°C", "deg. C": "°C", "degC": "°C", "° C": "°C",
    "Celsius": "°C", "℉": "°F", "ºF": "°F", "deg F": "°F", "deg. F": "°F", "degF": "°F",
    "° F": "°F", "Fahrenheit": "°F", "percent": "%", "Prozent": "%", "pct": "%",
    "L": "l", "mL": "ml",
    "to": "t", "tons": "t", "ton": "t", "tonne": "t", "tonnes": "t", "lbs": "lb", "sec": "s",
    "hr": "h", "hrs": "h", "hours": "h", "seconds": "s", "minutes": "min", "days": "d", "day": "d",
    "inch": "in", "L/min": "l/min", "L/h": "l/h", "L/s": "l/s", "mL/min": "ml/min", "mg/L": "mg/l",
    "g/L": "g/l", "µg/L": "µg/l", "€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY",
}  # fmt: skip
_SIGNS = str.maketrans({"μ": "µ", "²": "2", "³": "3", "℃": "℃", "·": "·"})
_FOLDED: dict[str, set[str]] = {}
for _unit in [*KNOWN, *_SAME]:
    _FOLDED.setdefault(_unit.casefold(), set()).add(_SAME.get(_unit, _unit))


def unit_of(text: str) -> str:
    """Return a unit as one spelling of it.

    Parameters
    ----------
    text : str
        What stands behind a number or in a row of units.

    Returns
    -------
    str
        The unit; as it was where it is not known.

    Examples
    --------
    >>> from robustscn.tables.units import unit_of
    >>> unit_of("[kg/h]"), unit_of("deg C"), unit_of("KG"), unit_of("€")
    ('kg/h', '°C', 'kg', 'EUR')
    """
    plain = " ".join(text.translate(_SIGNS).split()).rstrip(".")
    if len(plain) > 1 and plain[0] + plain[-1] in ("[]", "()", "{}", "<>"):
        plain = plain[1:-1].strip()
    if plain in _SAME:
        return _SAME[plain]
    if plain in KNOWN:
        return plain
    # One letter in another case is another unit: k is no kelvin.
    meant = _FOLDED.get(plain.casefold(), set()) if len(plain) > 1 else set()
    return next(iter(meant)) if len(meant) == 1 else plain


def is_known(unit: str) -> bool:
    """Return whether a unit, as `unit_of` has it, is on the list.

    Parameters
    ----------
    unit : str
        The unit.

    Returns
    -------
    bool
        Whether it is.
    """
    return unit in KNOWN
