"""A fitted estimator in a notebook: scikit-learn's diagram, and what the fit found below it."""

from __future__ import annotations

from html import escape
from typing import Any

from sklearn.utils import estimator_html_repr

STYLE = (
    "display:inline-block;margin:.3em 0;padding:.2em .8em;border:1px solid #8884;"
    "border-radius:.3em;font-size:.9em"
)


def facts_of(estimator: Any) -> dict[str, str]:
    """Return what there is to say of a fit, in the order in which it is said.

    Parameters
    ----------
    estimator : estimator
        Fitted or not.

    Returns
    -------
    dict of str
        Names and values; empty before a fit.

    Examples
    --------
    >>> import numpy as np
    >>> from robustscn import SCNRegressor
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> facts_of(SCNRegressor(7, random_state=0).fit(X, np.sin(9 * X[:, 0])))
    {'nodes': '7', 'ended': 'the network has max_nodes nodes'}
    """
    facts = {}
    if hasattr(estimator, "n_nodes_"):
        facts["nodes"] = f"{estimator.n_nodes_:,}"
    if hasattr(estimator, "n_rounds_"):
        facts["round kept"] = str(estimator.n_rounds_)
    flags = getattr(estimator, "outliers_", None)
    # Flags on a cluster are not fetched just to be shown.
    if flags is not None and not hasattr(flags, "dask"):
        facts["rows flagged"] = f"{int(flags.sum()):,} of {flags.shape[0]:,}"
    if hasattr(estimator, "estimated_outlier_share_"):
        facts["estimated share wrong"] = f"{estimator.estimated_outlier_share_:.1%}"
    if hasattr(estimator, "stop_reason_"):
        facts["ended"] = estimator.stop_reason_
    return facts


class ShownMixin:
    """Estimators that say in a notebook what their fit found."""

    def _html_repr(self) -> str:
        said = " &middot; ".join(
            f"{escape(name)} <b>{escape(value)}</b>" for name, value in facts_of(self).items()
        )
        return estimator_html_repr(self) + (f'<div style="{STYLE}">{said}</div>' if said else "")
