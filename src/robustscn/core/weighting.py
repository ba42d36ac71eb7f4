"""From residuals to inlier weights: how far each row is believed.

A weighting says two things: what one standard deviation of residuals is (`scale`), and what
residuals standardised by it weigh (`inlier_weight`), large for ordinary ones and small for
strange ones. `KDE` asks how many other rows err alike; a `Curve` (an M-estimator's weight function
with its tuning constant) is a fixed function of the row's distance; `Mixture` one that depends on
how many rows are wrong. None depends on the unit of y. A weighting of your own is a `Curve` with
another function; its docstring has one in five lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .arrays import Array, HostArray, namespace
from .density import density, sampled_count, silverman
from .mixture import believed, geman_mcclure
from .rows import Column, Rows, Totals, filled
from .scale import distances, robust_scales, standard_deviation, trimmed_scales
from .statistics import larger, total_weight


class Weighting:
    """Turns residuals into inlier weights."""

    @property
    def normalised(self) -> bool:
        """Whether weights are scaled to the mean one: only a ridge of fixed size can tell."""
        return True

    trimmed: ClassVar[bool] = True
    """Whether the scale leaves out rows beyond three of it, so that rows are flagged by it."""

    def scale(self, rows: Rows, residuals: Column, sample_weight: Column) -> HostArray:
        """Return one standard deviation of each output's residuals, none of them zero.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        residuals : column of shape (n_rows, n_outputs)
            Residuals.
        sample_weight : column of shape (n_rows,)
            How often each row counts.

        Returns
        -------
        array of shape (n_outputs,)
            Here 1.4826 times the median absolute residual, without rows beyond three times it.
        """
        return trimmed_scales(rows, residuals, sample_weight)

    def inlier_weight(self, rows: Rows, standardised: Column, sample_weight: Column) -> Column:
        """Return the weight of each row.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        standardised : column of shape (n_rows, n_outputs)
            Residuals in standard deviations.
        sample_weight : column of shape (n_rows,)
            How often each row counts.

        Returns
        -------
        column of shape (n_rows,)
            None negative.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class KDE(Weighting):
    """Weight = kernel density of the residuals at the row's residual.

    Parameters
    ----------
    robust : bool
        False: the textbook form, with the bandwidth 1.06 sd N^(-1/5) and each row's own kernel
        included. True: the scale is the median absolute residual, which one gross error cannot
        inflate, and a row does not vouch for itself.
    """

    robust: bool = True

    trimmed: ClassVar[bool] = False

    def scale(self, rows: Rows, residuals: Column, sample_weight: Column) -> HostArray:
        """Return the median absolute residuals, or the standard deviation of all outputs."""
        if self.robust:
            return robust_scales(rows, residuals, sample_weight)
        # Where all residuals are equal no row is stranger than another, by any scale.
        pooled = max(standard_deviation(rows, residuals, sample_weight), 1e-30)
        return np.full(residuals.shape[1], pooled)

    def inlier_weight(self, rows: Rows, standardised: Column, sample_weight: Column) -> Column:
        """Return the density at each residual."""
        count = total_weight(rows, sample_weight)
        counted = sampled_count(rows, standardised.shape[1], count)
        bandwidth = silverman(1.0, counted)
        return density(rows, standardised, sample_weight, bandwidth, exclude_self=self.robust)


class Mixture(Weighting):
    """Weight = the squared probability that a row is right.

    Examples
    --------
    A residual of four standard deviations is believed the less the more rows are wrong:

    >>> import numpy as np
    >>> from robustscn.core.rows import LocalRows
    >>> clean = np.append(np.random.default_rng(0).normal(size=400), 4.0)[:, None]
    >>> dirty = np.append(clean[:, 0], np.linspace(-30, 30, 130))[:, None]
    >>> for e in (clean, dirty):
    ...     print(round(float(Mixture().inlier_weight(LocalRows(len(e)), e, e[:, 0] ** 0)[400]), 2))
    0.94
    0.21
    """

    def inlier_weight(self, rows: Rows, standardised: Column, sample_weight: Column) -> Column:
        """Return how far rows are believed."""
        return believed(rows, standardised, sample_weight)


class Curve(Weighting):
    """Weight = a function of the row's distance in robust standard deviations.

    Examples
    --------
    A weighting of your own, for every estimator's `weighting` parameter:

    >>> from robustscn import RobustSCNRegressor
    >>> class Hard(Curve):
    ...     def weight(self, distance):
    ...         return 1.0 * (distance < 3)
    >>> model = RobustSCNRegressor(weighting=Hard())
    """

    def weight(self, distance: Array) -> Array:
        """Return the weights, between 0 and 1, of rows at the given distances."""
        raise NotImplementedError

    def inlier_weight(
        self,
        rows: Rows,
        standardised: Column,
        sample_weight: Column,  # noqa: ARG002
    ) -> Column:
        """Return the curve's value at each row's distance."""
        return rows.map(self.weight, distances(rows, standardised))


@dataclass(frozen=True)
class Huber(Curve):
    """Weight 1 up to `cutoff`, then cutoff / distance: large errors count linearly.

    Parameters
    ----------
    cutoff : float
        1.345 gives 95 % of the efficiency of least squares under normal noise.
    """

    cutoff: float = 1.345

    def weight(self, distance: Array) -> Array:
        """Return min(1, cutoff / distance)."""
        return self.cutoff / namespace(distance).clip(distance, self.cutoff, None)


@dataclass(frozen=True)
class Tukey(Curve):
    """Weight (1 - (distance / cutoff)^2)^2, and nothing beyond `cutoff`.

    Parameters
    ----------
    cutoff : float
        4.685 gives 95 % of the efficiency of least squares under normal noise.
    """

    cutoff: float = 4.685

    def weight(self, distance: Array) -> Array:
        """Return the biweight."""
        inside = 1.0 - (namespace(distance).clip(distance, None, self.cutoff) / self.cutoff) ** 2
        return inside * inside


@dataclass(frozen=True)
class Cauchy(Curve):
    """Weight 1 / (1 + (distance / cutoff)^2).

    Parameters
    ----------
    cutoff : float
        2.385 gives 95 % of the efficiency of least squares under normal noise.
    """

    cutoff: float = 2.385

    def weight(self, distance: Array) -> Array:
        """Return the Cauchy weight."""
        # Dividing before squaring keeps distances of 1e200 from overflowing.
        bounded = namespace(distance).clip(distance / self.cutoff, None, 1e18)
        return 1.0 / (1.0 + bounded * bounded)


@dataclass(frozen=True)
class GemanMcClure(Curve):
    """Weight 1 / (1 + (distance / cutoff)^2)^2: far rows lose their pull altogether.

    Parameters
    ----------
    cutoff : float
        Distance at which a row counts a quarter.
    """

    cutoff: float = 3.0

    def weight(self, distance: Array) -> Array:
        """Return the Geman-McClure weight."""
        return geman_mcclure(distance, self.cutoff)


@dataclass(frozen=True)
class Welsch(Curve):
    """Weight exp(-(distance / cutoff)^2): maximum correntropy.

    Parameters
    ----------
    cutoff : float
        2.985 gives 95 % of the efficiency of least squares under normal noise.
    """

    cutoff: float = 2.985

    def weight(self, distance: Array) -> Array:
        """Return the Gaussian weight."""
        xp = namespace(distance)
        bounded = xp.clip(distance / self.cutoff, None, 1e3)
        return xp.exp(-(bounded * bounded))


@dataclass(frozen=True)
class StudentT(Curve):
    """Weight (degrees + 1) / (degrees + distance^2): maximum likelihood under Student's t.

    Parameters
    ----------
    degrees : float
        Degrees of freedom; fewer believe far rows less.
    """

    degrees: float = 4.0

    def weight(self, distance: Array) -> Array:
        """Return the weight scaled to 1 at distance 0."""
        bounded = namespace(distance).clip(distance, None, 1e18)
        return self.degrees / (self.degrees + bounded * bounded)


@dataclass(frozen=True)
class Laplace(Curve):
    """Weight 1 / max(|e|, delta): maximum likelihood under Laplace noise.

    Parameters
    ----------
    delta : float
        Smallest distance that is told from zero.
    unit : float or None
        Distances are |e| times this; None takes robust standard deviations. The probabilistic
        network's prior has the unit of y, so it must see its residuals, and weights, in that.
    """

    delta: float = 1e-3
    unit: float | None = None

    @property
    def normalised(self) -> bool:
        """Whether weights are scaled to the mean one: not where they have a unit."""
        return self.unit is None

    trimmed: ClassVar[bool] = False

    def scale(self, rows: Rows, residuals: Column, sample_weight: Column) -> HostArray:
        """Return the median absolute residuals, or ones where they stay as they are."""
        if self.unit is None:
            return robust_scales(rows, residuals, sample_weight)
        return np.ones(residuals.shape[1])

    def weight(self, distance: Array) -> Array:
        """Return one over each row's distance."""
        unit = 1.0 if self.unit is None else self.unit
        return 1.0 / namespace(distance).clip(distance * unit, self.delta, None)


NAMED: dict[str, Weighting] = {
    "mixture": Mixture(),
    "kde": KDE(),
    "kde-textbook": KDE(robust=False),
    "huber": Huber(),
    "tukey": Tukey(),
    "cauchy": Cauchy(),
    "geman-mcclure": GemanMcClure(),
    "welsch": Welsch(),
    "laplace": Laplace(),
    "student-t": StudentT(),
}
"""The weightings that a string names."""


def named(weighting: str | Weighting) -> Weighting:
    """Return the weighting that a name or an object stands for."""
    if isinstance(weighting, str):
        if weighting not in NAMED:
            raise ValueError(
                f"weighting={weighting!r} is not known; use one of {', '.join(sorted(NAMED))}, "
                "or a robustscn.weighting.Weighting of your own, such as a Curve"
            )
        return NAMED[weighting]
    if not isinstance(weighting, Weighting):
        raise TypeError(
            "weighting must be a name or a robustscn.weighting.Weighting (a Curve with a weight "
            f"function of your own, say), got {weighting!r}"
        )
    return weighting


def mean_one(rows: Rows, inlier_weight: Column, sample_weight: Column) -> Column:
    """Return inlier weights scaled to a weighted mean of one; ones where none is positive."""

    def sums(theta: Array, w: Array) -> Totals:
        xp = namespace(w)
        return xp.sum(theta * w), xp.sum(w)

    mass, count = (float(total) for total in rows.reduce(sums, inlier_weight, sample_weight))
    if not mass > 0:
        return filled(rows, 1.0, sample_weight)
    return rows.map(lambda theta: theta * (count / mass), inlier_weight)


def at_most_one(rows: Rows, inlier_weight: Column, sample_weight: Column) -> Column:
    """Return inlier weights scaled so that the largest of a counted row is one."""
    largest = _largest(rows, inlier_weight, sample_weight)
    # Dividing may give 1 + 1e-16; the cap makes the promise exact.
    return rows.map(lambda theta: namespace(theta).clip(theta / largest, 0.0, 1.0), inlier_weight)


def trusting(
    rows: Rows, inlier_weight: Column, sample_weight: Column, trusted: Column | None
) -> Column:
    """Return inlier weights of which trusted rows have the largest, whatever their residuals."""
    if trusted is None:
        return inlier_weight
    largest = _largest(rows, inlier_weight, sample_weight)

    def full(theta: Array, known: Array) -> Array:
        return namespace(theta).where(known > 0, namespace(theta).full_like(theta, largest), theta)

    return rows.map(full, inlier_weight, trusted)


def _largest(rows: Rows, inlier_weight: Column, sample_weight: Column) -> float:
    """Return the largest inlier weight of a row that counts."""

    def peak(theta: Array, w: Array) -> Totals:
        xp = namespace(theta)
        return (xp.max(xp.where(w > 0, theta, xp.zeros_like(theta))),)

    (largest,) = rows.reduce(peak, inlier_weight, sample_weight, combine=larger)
    return float(largest)
