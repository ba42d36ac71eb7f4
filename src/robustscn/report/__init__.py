"""What a fit did, as one page to show to others.

`record_of` takes what there is to say out of a fitted model and its training rows; `render`
makes one HTML file of it that needs no network; `write_report` puts that file in its place.
"""

from .page import render, write_report
from .record import FitRecord, record_of

__all__ = ["FitRecord", "record_of", "render", "write_report"]
