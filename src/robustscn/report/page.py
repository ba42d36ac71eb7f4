"""One HTML file: words, figures, data and scripts together, and nothing from anywhere else.

Every text that comes from the data is escaped where it enters the page. The page also forbids
itself the network and any script but its own three, whose digests it names, so that a mistake
in the escaping would still run nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atomic import write_whole
from .charts import figures_of
from .columns import Column
from .points import Points
from .record import Facts, FitRecord
from .words import captions, explanation, headline, sampling, target_notes, tiles

MOST_BYTES = 5_850_000
"""Size of a page that mail still takes; rows are left out of the charts to keep to it."""

MOST_TABLE_ROWS = 1000
MOST_EPISODES = 20


def write_report(record: FitRecord, path: str | os.PathLike[str]) -> Path:
    """Write the page to a file, all of it or nothing.

    Parameters
    ----------
    record : FitRecord
        What to show.
    path : path-like
        Where to; a file that is there is replaced.

    Returns
    -------
    pathlib.Path
        The file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np, pandas as pd
    >>> from robustscn import RobustSCNRegressor
    >>> from robustscn.report import record_of, write_report
    >>> frame = pd.DataFrame({"x": np.linspace(0, 1, 60)})
    >>> frame["y"] = np.sin(6 * frame["x"]) + 2.0 * (frame.index == 30)
    >>> model = RobustSCNRegressor(n_networks=4, max_nodes=20, n_rounds=4, random_state=0)
    >>> record = record_of(
    ...     model.fit(frame[["x"]], frame["y"]), frame, targets="y", features=["x"]
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(record, pathlib.Path(folder) / "report.html").name
    'report.html'
    """
    # A file name in it may be bytes that are no text: they are shown by their numbers.
    return write_whole(path, render(record).encode("utf-8", "backslashreplace"))


def render(record: FitRecord) -> str:
    """Return the page.

    Parameters
    ----------
    record : FitRecord
        What to show.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from robustscn import RobustSCNRegressor
    >>> from robustscn.report import record_of, render
    >>> frame = pd.DataFrame({"x": np.linspace(0, 1, 60)})
    >>> frame["y"] = np.sin(6 * frame["x"]) + 2.0 * (frame.index == 30)
    >>> model = RobustSCNRegressor(n_networks=4, max_nodes=20, n_rounds=4, random_state=0)
    >>> model = model.fit(frame[["x"]], frame["y"])
    >>> page = render(record_of(model, frame, targets="y", features=["x"]))
    >>> page.split("<h1>")[1].split("</h1>")[0]
    '1 of 60 rows was flagged.'
    """
    library = _plotly()
    files = {name: _file(name) for name in ("page.html", "page.css", "page.js", "figures.js")}
    spent = sum(len(text.encode()) for text in (library, *files.values()))
    payload, points = _payload_within(record, MOST_BYTES - spent)
    scripts = " ".join(_digest(text) for text in (files["page.js"], library, files["figures.js"]))
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; "
        f"script-src {scripts}"
    )
    return Template(files["page.html"]).substitute(
        policy=policy,
        title=html.escape(headline(record)),
        style=files["page.css"],
        headline=html.escape(headline(record)),
        explanation=_paragraphs(explanation(record)),
        tiles=_tiles(tiles(record)),
        sampling=html.escape(sampling(record, points)),
        chooser=_chooser(record),
        episodes=_episodes(record),
        pictures=_pictures(record),
        inputs=_input_places(record),
        paths=_path_places(record),
        held_out=_fact_list("On rows kept from the fit", record.held_out),
        data=_fact_list("Data", record.data),
        settings=_fact_list(f"Model: {record.model}", record.settings),
        versions=_fact_list("Versions", record.versions),
        command=_command(record),
        created=html.escape(record.created),
        payload=payload,
        library=library,
        script=files["page.js"],
        drawing=files["figures.js"],
        **{name: html.escape(text) for name, text in captions(record).items()},
    )


def _payload_within(record: FitRecord, most_bytes: int) -> tuple[str, Points]:
    """Return the data of the page, with rows left out until they fit."""
    points = record.points
    while True:
        payload = embedded(_payload(record, points))
        if len(payload) <= most_bytes or len(points) <= 100:
            return payload, points
        points = points.thinned(int(0.9 * len(points) * min(1.0, most_bytes / len(payload))))


def embedded(data: Any) -> str:
    """Return JSON that no HTML parser takes for markup."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _payload(record: FitRecord, points: Points) -> dict[str, Any]:
    each = range(len(record.targets))
    along = points.position if points.along is None else points.along.values
    columns = {
        "row": _packed(points.name),
        "along": _packed(Column("", "number", along)),
        "weight": _packed(Column("", "number", np.round(points.weight, 4))),
        "worst": _packed(Column("", "number", points.worst)),
    }
    for kind in ("observed", "expected", "deviations"):
        values = getattr(points, kind)
        columns |= {f"{kind}-{q}": _packed(Column("", "number", values[:, q])) for q in each}
    if points.plausible is not None:
        for q in each:
            low, high = points.plausible[:, q].T
            columns |= {f"low-{q}": _packed(Column("", "number", low))}
            columns |= {f"high-{q}": _packed(Column("", "number", high))}
    columns |= {f"raw-{k}": _packed(column) for k, column in enumerate(points.raw)}
    time = points.along is not None
    return {
        "columns": columns | ({"time": _packed(points.along)} if points.along else {}),
        "rowName": points.name.name,
        "raw": [column.name for column in points.raw],
        "time": points.along.name if time and points.along else None,
        "targets": [target.name for target in record.targets],
        "plausible": points.plausible is not None,
        "scales": [target.scale for target in record.targets],
        "notes": target_notes(record),
        "figures": figures_of(record),
        "rows": len(points),
        "suspects": min(points.n_suspects, MOST_TABLE_ROWS),
        "allSuspects": record.n_suspects,
    }


def _packed(column: Column) -> dict[str, Any]:
    """Return a column as the bytes of typed arrays, a third shorter than digits."""
    if column.kind == "text":
        levels, codes = np.unique(column.values.astype(str), return_inverse=True)
        return {"kind": "text", "levels": levels.tolist(), "i4": _bytes(codes, "<i4")}
    values = np.asarray(column.values, dtype=float)
    finite = values[np.isfinite(values)]
    whole = bool(np.all(finite == np.round(finite)))
    largest = float(np.abs(finite).max(initial=0.0))
    # float32 has seven digits, which is more than anyone reads, except of numbers that count.
    single = largest < (2**24 if whole else 1e37)
    return {
        "kind": column.kind,
        "f4" if single else "f8": _bytes(values, "<f4" if single else "<f8"),
    }


def _bytes(values: NDArray[Any], dtype: str) -> str:
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode()


def _plotly() -> str:
    try:
        from plotly.offline import get_plotlyjs
    except ImportError as missing:
        raise ImportError("the report needs plotly: pip install 'robustscn[cli]'") from missing
    return str(get_plotlyjs())


def _file(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _paragraphs(texts: list[str]) -> str:
    return "\n".join(f"<p>{html.escape(text)}</p>" for text in texts)


def _tiles(pairs: list[tuple[str, str, str]]) -> str:
    return "\n".join(
        f'<div class="tile"><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd>'
        f'<dd class="small">{html.escape(note)}</dd></div>'
        for name, value, note in pairs
    )


def _chooser(record: FitRecord) -> str:
    if len(record.targets) == 1:
        return ""
    options = "".join(
        f'<option value="{q}">{html.escape(target.name)}</option>'
        for q, target in enumerate(record.targets)
    )
    return (
        '<p class="chooser"><label for="target">Target shown in the figures</label> '
        f'<select id="target">{options}</select></p>'
    )


def _episodes(record: FitRecord) -> str:
    if not record.episodes:
        return "<p>There is none.</p>"
    several = len(record.targets) > 1
    items = "".join(
        f"<li>{html.escape(f'{each.target}: ' if several else '')}{html.escape(each.sentence)}</li>"
        for each in record.episodes[:MOST_EPISODES]
    )
    more = len(record.episodes) - MOST_EPISODES
    rest = f"<p>{more:,} shorter ones are not listed.</p>" if more > 0 else ""
    return f"<ol>{items}</ol>{rest}"


def _pictures(record: FitRecord) -> str:
    """Return what is odd about columns; the pictures are ours, the words are the data's."""
    if not record.pictures:
        return ""
    figures = "".join(
        f"<figure>{picture}<figcaption>{html.escape(words)}</figcaption></figure>"
        for words, picture in record.pictures
    )
    return f'<h3>Odd about the columns</h3>\n<div class="grid">{figures}</div>'


def _place(name: str, label: str, height: int) -> str:
    return (
        f'<div class="plot" data-figure="{name}" role="figure" aria-label="{html.escape(label)}" '
        f'style="min-height:{height}px"></div>'
    )


def _input_places(record: FitRecord) -> str:
    return "\n".join(
        f"<figure>{_place(f'input-{k}', f'Mean prediction over {main.grid.name}', 260)}</figure>"
        for k, main in enumerate(record.inputs.main)
    )


def _path_places(record: FitRecord) -> str:
    return "\n".join(
        f"<figure><h3>Error against {path.along}</h3>"
        f"{_place(f'path-{path.along}', f'Error against {path.along}', 320)}</figure>"
        for path in record.paths
    )


def _fact_list(title: str, facts: Facts) -> str:
    if not facts:
        return ""
    rows = "".join(f"<dt>{html.escape(k)}</dt><dd>{html.escape(v)}</dd>" for k, v in facts)
    return f'<div class="facts"><h3>{html.escape(title)}</h3><dl>{rows}</dl></div>'


def _command(record: FitRecord) -> str:
    if not record.command:
        return ""
    return f"<h3>To make this again</h3><pre><code>{html.escape(record.command)}</code></pre>"
