"""The sentences of the page: what happened, in words that need no textbook."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .charts import visible_range
from .points import Points
from .record import COVERAGE, FARTHEST, FitRecord


def headline(record: FitRecord) -> str:
    """Return the one sentence to remember."""
    if record.n_suspects == 0:
        return f"None of {record.n_rows:,} rows was flagged."
    verb = "was" if record.n_suspects == 1 else "were"
    return f"{record.n_suspects:,} of {record.n_rows:,} rows {verb} flagged."


def explanation(record: FitRecord) -> list[str]:
    """Return what the headline means, in a few short paragraphs."""
    judged = (
        "Each row was judged by models that had not seen it: they predicted its target from "
        "the other rows."
        if record.left_out
        else "Each row was judged by how far its target is from the model's prediction."
    )
    names = _listed([target.name for target in record.targets])
    what = f"The model predicts {names}. {judged} {_limit(record)}"
    if record.n_suspects == 0:
        what = f"The model predicts {names}. {judged}"
        return [what, "No row was far enough away, so all rows had their say in the model."]
    return [
        what,
        "No row was deleted. A row that looks wrong was given less weight, down to nearly none, "
        "so that it could not bend the model. Flagged does not mean wrong: the rows below "
        "are those to check first.",
    ]


def _limit(record: FitRecord) -> str:
    if record.n_maybe_right is not None:
        return (
            f"A row is flagged where the two differ by more than noise explains. {_right(record)} "
            f"One standard deviation of the noise is about {_scales(record)}."
        )
    unsure = ", and more where the models disagree" if record.left_out else ""
    if len(record.targets) == 1:
        return (
            "A row is flagged where the two differ by more than three robust standard "
            f"deviations, which is about {3 * record.targets[0].scale:.3g} here{unsure}."
        )
    return (
        "A row is flagged where its targets, taken together, are further away than three "
        f"robust standard deviations; one is about {_scales(record)}{unsure}."
    )


def _scales(record: FitRecord) -> str:
    if len(record.targets) == 1:
        return f"{record.targets[0].scale:.3g} here"
    return _listed([f"{target.scale:.3g} for {target.name}" for target in record.targets])


def _right(record: FitRecord) -> str:
    """Say how many of the flagged rows may be right."""
    right = record.n_maybe_right
    if record.n_suspects == 1:
        return "This one may still be right." if right else "This one is hardly right."
    many = f"About {right:,}" if right else "Hardly one"
    return f"{many} of these {record.n_suspects:,} may be right after all."


def tiles(record: FitRecord) -> list[tuple[str, str, str]]:
    """Return name, value and remark of the few numbers at the top."""
    share = record.n_suspects / max(record.n_rows, 1)
    errors = [
        ("Typical error" + (f", {t.name}" if len(record.targets) > 1 else ""), t)
        for t in record.targets[:3]
    ]
    without = "what was predicted without the row" if record.left_out else "the prediction"
    return [
        ("Rows flagged", f"{share:.1%}", f"{record.n_suspects:,} of {record.n_rows:,}"),
        _episodes_tile(record),
        *((name, f"{t.median_error:.3g}", f"median distance from {without}") for name, t in errors),
        *_held_out_tile(record),
    ]


def _episodes_tile(record: FitRecord) -> tuple[str, str, str]:
    stretches = [each for each in record.episodes if each.kind != "spikes"]
    longest = max((each for each in stretches), key=lambda each: len(each.rows), default=None)
    note = "no rows went wrong together" if longest is None else f"the longest: {longest.length}"
    return "Episodes", f"{len(stretches):,}", note


def _held_out_tile(record: FitRecord) -> list[tuple[str, str, str]]:
    facts = dict(record.held_out)
    if "median absolute error" not in facts:
        return []
    if record.left_out and facts.get("rows") == str(record.n_rows):
        return []  # every row was left out once: that is the typical error
    note = f"median absolute error on {facts['rows']} rows" if "rows" in facts else ""
    return [("Held-out error", facts["median absolute error"], note)]


def sampling(record: FitRecord, points: Points) -> str:
    """Say which rows the charts leave out; empty if none."""
    if len(points) == record.n_rows:
        return ""
    suspects = (
        f"all {points.n_suspects:,} flagged rows"
        if points.n_suspects == record.n_suspects
        else f"the {points.n_suspects:,} most suspicious of {record.n_suspects:,} flagged rows"
    )
    return (
        f"To keep this page light, single points are drawn for {len(points):,} of "
        f"{record.n_rows:,} rows: {suspects} and {len(points) - points.n_suspects:,} of the "
        "others, evenly spread. All numbers, the histogram and the share of flagged rows are "
        "of all rows."
    )


def captions(record: FitRecord) -> dict[str, str]:
    """Return the sentence under each heading."""
    return {
        "about_episodes": _about_episodes(record),
        "to_do": _to_do(record),
        "about_fit": "Each point is a row. On the dotted line, what was observed is what was "
        "predicted; the further a point is from the line, the less it was believed. Hover over "
        "a point to see its row.",
        "about_residuals": "How far rows are from their prediction, and how much a row at that "
        "distance counted. "
        + (
            "Beyond the dotted lines, at three deviations, rows are flagged. "
            if record.n_maybe_right is None
            else "The dotted lines are at three deviations of the noise. "
        )
        + f"The outermost bars count all rows beyond {FARTHEST:g} deviations.",
        "about_weights": _about_weights(record),
        "about_inputs": _about_inputs(record),
        "about_paths": _about_paths(record),
        "about_table": _about_table(record),
    }


def target_notes(record: FitRecord) -> dict[str, list[str]]:
    """Return the notes that belong to one target each."""
    hidden = []
    for q in range(len(record.targets)):
        low, high = visible_range(record, q)
        observed = record.points.observed[:, q]
        beyond = int(((observed < low) | (observed > high)).sum())
        hidden.append(
            f"{beyond:,} {'row lies' if beyond == 1 else 'rows lie'} outside this picture: "
            "double-click to zoom out."
            if beyond
            else ""
        )
    return {
        "episodes": hidden,
        "fit": hidden,
        "residuals": [
            f"One robust standard deviation of {target.name} is {target.scale:.4g}."
            for target in record.targets
        ],
    }


def _about_episodes(record: FitRecord) -> str:
    if not any(each.kind != "spikes" for each in record.episodes):
        return "No stretch of rows went wrong together; what is left are single rows."
    return (
        "Rows that went wrong together, with a likely cause; shaded in the picture. Rows of a "
        "stretch that look right by themselves belong to it all the same."
    )


def _to_do(record: FitRecord) -> str:
    if not record.episodes:
        return ""
    return (
        "What to do: look up what happened there. Where the cause is right, correct the rows in "
        "the table, or have them blanked (robustscn clean); where they are right after all, call "
        "them fine in a column (robustscn fit --reviewed) or in robustscn app. Then fit again."
    )


def _about_weights(record: FitRecord) -> str:
    stretches, along = record.stretches, record.points.along
    text = (
        "A sensor that fails for a while shows as a stripe of flagged rows; rows that are "
        "wrong now and then are scattered."
    )
    if not stretches.stands_out:
        return f"{text} No stretch stands out here." if len(stretches.share) else text
    kind = "number" if along is None else along.kind
    first, last = (_shown(end, kind) for end in (stretches.first, stretches.last))
    where = f"rows {first} to {last}" if along is None else f"{along.name} {first} to {last}"
    return (
        f"{text} Most of all: {where}, where {max(stretches.share):.0%} of "
        f"{stretches.n_rows} rows were flagged, against "
        f"{record.n_suspects / record.n_rows:.0%} of all rows."
    )


def _about_inputs(record: FitRecord) -> str:
    inputs = record.inputs
    if not inputs.main:
        return "No input moves the prediction noticeably."
    tried = (
        f" In the time given, {inputs.n_tried:,} of {inputs.n_all:,} inputs were tried."
        if inputs.n_tried < inputs.n_all
        else ""
    )
    return (
        "The mean prediction when one input is set to a value and the others stay as they are, "
        f"over {inputs.n_rows:,} trusted rows; the input that moves predictions most comes "
        f"first, and all have the same scale. Ticks on the axis are tenths of the data.{tried}"
    )


def _about_paths(record: FitRecord) -> str:
    reason = (
        f" {record.stop_reason[:1].upper()}{record.stop_reason[1:]}." if record.stop_reason else ""
    )
    return f"How the error fell while the model was made; the circle is what was kept.{reason}"


def _about_table(record: FitRecord) -> str:
    if record.n_suspects == 0:
        return "There is none."
    plausible = ""
    if record.points.plausible is not None:
        plausible = f" Between the plausible values lie {COVERAGE:.0%} of clean targets."
    several = " Numbers are of the target that deviates most." if len(record.targets) > 1 else ""
    return (
        "The most suspicious first. Deviations are the difference between observed and expected in "
        "robust standard deviations; a weight of 1 is full trust, 0 is none." + plausible + several
    )


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _shown(value: Any, kind: str) -> str:
    if kind == "date":
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M}"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
