"""From residuals to inlier weights: how far each row is believed.

A weighting maps the residuals of all rows to one number for each, large for ordinary errors
and small for strange ones. `KDE` asks how many other rows err alike; a `Curve` compares a row's
distance, in robust standard deviations, with a fixed function of it; `Mixture` with a function
that depends on how many rows are wrong. None depends on the unit of y. A weighting of your own
is a `Curve` with another function; its docstring has one in five lines.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from .arrays import Array, HostArray, like, namespace
from .density import density, sampled_count, silverman
from .mixture import Mixture, geman_mcclure
from .rows import Column, Rows
from .scale import at_least, distances, robust_scales, standard_deviation, trimmed_scales


@runtime_checkable
class Weighting(Protocol):
    """Anything that turns residuals into inlier weights."""

    def inlier_weight(
        self,
        rows: Rows,
        residuals: Column,
        sample_weight: Column,
        least_scale: HostArray | None = None,
    ) -> Column:
        """Return one number for each row, none negative; their common scale does not matter."""
        ...


@dataclass(frozen=True)
class KDE:
    """Weight = kernel density of the residuals at the row's residual.

    Parameters
    ----------
    robust : bool
        False: the textbook form, with the bandwidth 1.06 sd N^(-1/5) and each row's own kernel
        included. True: the scale is the median absolute residual, which one gross error cannot
        inflate, and a row does not vouch for itself.
    """

    robust: bool = True

    def inlier_weight(
        self,
        rows: Rows,
        residuals: Column,
        sample_weight: Column,
        least_scale: HostArray | None = None,
    ) -> Column:
        """Return the density at each residual.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        residuals : column of shape (n_rows, n_outputs)
            Residuals.
        sample_weight : column of shape (n_rows,)
            How often each row counts.
        least_scale : array of shape (n_outputs,) or None
            What one standard deviation of each output is at least taken to be.

        Returns
        -------
        column of shape (n_rows,)
            Not normalised.
        """
        (count,) = rows.reduce(lambda w: (namespace(w).sum(w),), sample_weight)
        if self.robust:
            scales = at_least(robust_scales(rows, residuals, sample_weight), least_scale)
            residuals = rows.map(lambda e: e / like(scales, e), residuals)
            scale = 1.0
        else:
            scale = standard_deviation(rows, residuals, sample_weight)
            scale = max(scale, 0.0 if least_scale is None else float(np.max(least_scale)))
        if not scale > 0:  # all residuals equal: no row is stranger than another
            return rows.map(lambda w: namespace(w).ones_like(w), sample_weight)
        bandwidth = silverman(scale, sampled_count(rows, residuals.shape[1], float(count)))
        return density(rows, residuals, sample_weight, bandwidth, exclude_self=self.robust)


class Curve:
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
        residuals: Column,
        sample_weight: Column,
        least_scale: HostArray | None = None,
    ) -> Column:
        """Return the weight of each row.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        residuals : column of shape (n_rows, n_outputs)
            Residuals.
        sample_weight : column of shape (n_rows,)
            How often each row counts.
        least_scale : array of shape (n_outputs,) or None
            What one standard deviation of each output is at least taken to be.

        Returns
        -------
        column of shape (n_rows,)
            Between 0 and 1.
        """
        scales = at_least(trimmed_scales(rows, residuals, sample_weight), least_scale)
        return rows.map(self.weight, distances(rows, residuals, scales))


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
class Laplace:
    """Weight 1 / max(|e|, delta): maximum likelihood under Laplace noise.

    Parameters
    ----------
    delta : float
        Smallest distance that is told from zero.
    unit : float or None
        Distances are |e| times this; None takes robust standard deviations. The probabilistic
        network's prior has the unit of y, so it must see its residuals in that unit.
    """

    delta: float = 1e-3
    unit: float | None = None

    def inlier_weight(
        self,
        rows: Rows,
        residuals: Column,
        sample_weight: Column,
        least_scale: HostArray | None = None,
    ) -> Column:
        """Return the weight of each row.

        Parameters
        ----------
        rows : Rows
            Where the rows live.
        residuals : column of shape (n_rows, n_outputs)
            Residuals.
        sample_weight : column of shape (n_rows,)
            How often each row counts.
        least_scale : array of shape (n_outputs,) or None
            What one standard deviation of each output is at least taken to be.

        Returns
        -------
        column of shape (n_rows,)
            Positive, not normalised.
        """
        unit, scales = self.unit, np.ones(residuals.shape[1])
        if unit is None:
            unit = 1.0
            scales = at_least(robust_scales(rows, residuals, sample_weight), least_scale)
        return rows.map(
            lambda d: 1.0 / namespace(d).clip(d * unit, self.delta, None),
            distances(rows, residuals, scales),
        )


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
                "or an object with a method inlier_weight(rows, residuals, sample_weight, "
                "least_scale=None)"
            )
        return NAMED[weighting]
    if not isinstance(weighting, Weighting):
        raise TypeError(
            f"weighting must be a name or have a method inlier_weight, got {weighting!r}"
        )
    return weighting
