"""Models as files that are data and never run code.

Nothing in a file is built before all of it was looked at: its size, the types it names, the
values and arrays they hold. Only types of a short list, and those the caller names, are brought
back to life. Each refusal is one sentence that says what to do.
"""

from .archive import FORMAT
from .faults import DamagedModel, NotAModel, OtherVersion, TooLargeModel, UntrustedModel
from .files import Contents, Saved, inspect, load, save
from .kinds import TRUSTED

__all__ = [
    "FORMAT",
    "TRUSTED",
    "Contents",
    "DamagedModel",
    "NotAModel",
    "OtherVersion",
    "Saved",
    "TooLargeModel",
    "UntrustedModel",
    "inspect",
    "load",
    "save",
]
