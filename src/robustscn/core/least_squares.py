"""Weighted least squares for the output weights of nodes that are all given at once.

Without a ridge, or with a tiny one, by the triangular factor R of sqrt(W) [H | y], which adds up
over row blocks without squaring the condition number. Where ridges are tried that are far above
rounding, by the eigenvectors of H' W H, at less than half of the price: they give the output
weights for every ridge, and one more reading of the rows their leave-one-out errors. Where rows
are few, by the singular values of H itself, which keep all digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from array_api_compat import device, is_numpy_array

from .arrays import Array, HostArray, eps, histogram, like, namespace, triangle_of
from .rows import Column, LocalRows, Rows, Totals, spread

CHOOSING_ROWS = 2**12
"""Rows whose leave-one-out errors choose a ridge, at most: a ridge is one number, and its
neighbours on the grid do nearly as well. By argument; changes time."""


FEW_ROWS = 2**8
"""Rows up to which singular values are taken of the columns themselves: products of them hold half
of the digits, and few rows under the smallest ridge need all to be the same for a weight of two as
for a row twice. By argument; beyond, it would take several times as long."""


def leave_one_out(residuals: Array, leverage: Array, others: Array | None = None) -> Array:
    """Return what the residuals would be had each row been left out of its own fit.

    Parameters
    ----------
    residuals : array of shape (n_rows, n_outputs)
        Residuals.
    leverage : array of shape (n_rows,)
        Diagonal of the hat matrix; of a row that is left out with others, what theirs adds up to.
    others : array of shape (n_rows, n_outputs) or None
        Mean residual of all that is left out with a row, itself included; None where each is
        left out alone, whatever its weight.

    Returns
    -------
    array of shape (n_rows, n_outputs)
        e_i + leverage_i / (1 - leverage_i) * others_i, for a row alone e_i / (1 - leverage_i).
        A row that alone determines a direction has leverage one; the divisor is held at 1e-3,
        since the quotient of two rounding errors says nothing.
    """
    left = namespace(residuals).clip(1.0 - leverage, 1e-3, None)[..., None]
    if others is None:
        return residuals / left
    return residuals + (1.0 - left) / left * others


@dataclass(frozen=True)
class Twins:
    """Rows of equal inputs, which are left out together.

    Where a row's twin stays in the fit, leaving the row out shows nothing: the twin stands in for
    it, and a network that learned both by heart looks as good as can be.

    Parameters
    ----------
    group : column of shape (n_rows,)
        Number of the group that each row belongs to, as an integer.
    count : int
        Number of groups.
    """

    group: Column
    count: int

    def together(self, rows: Rows, y: Column, weight: Column) -> tuple[Column, Column]:
        """Return the weight of each row's group and the weighted mean of its targets."""

        def sums(g: Array, t: Array, w: Array) -> Totals:
            parts = [w, *(w * t[:, q] for q in range(t.shape[1]))]
            return tuple(histogram(g, part, self.count) for part in parts)

        mass, *totals = rows.reduce(sums, self.group, y, weight)
        mean = np.stack(totals, axis=1) / np.where(mass > 0, mass, 1.0)[:, None]

        def spread_out(g: Array, t: Array) -> tuple[Array, Array]:
            xp = namespace(t)
            own = xp.take(like(mass, t), g)
            # Where nothing of a group is believed, each of its rows stands for itself.
            return own, xp.where((own > 0)[:, None], xp.take(like(mean, t), g, axis=0), t)

        return rows.map(spread_out, self.group, y)


@dataclass(frozen=True)
class Design:
    """A weighted least squares problem whose design matrix is made block by block.

    Parameters
    ----------
    rows : Rows
        Where the rows live.
    X, y, weight : columns
        Inputs, targets of shape (n_rows, n_outputs), weights.
    hidden : callable
        Makes hidden columns, those of the design matrix, of a block of inputs.
    width : int
        How many it makes.
    """

    rows: Rows
    X: Column
    y: Column
    weight: Column
    hidden: Callable[[Array], Array]
    width: int


@dataclass(frozen=True)
class Solution:
    """Least squares over nodes that were all given at once.

    Parameters
    ----------
    output_weights : array of shape (n_columns, n_outputs)
        Output weights, of minimal norm where they are not unique.
    residuals : column of shape (n_rows, n_outputs)
        y minus the network's output.
    """

    output_weights: HostArray
    residuals: Column


def triangular_factor(design: Design) -> HostArray:
    """Return R of the orthogonal factorisation of sqrt(W) [H | y].

    Its leading columns are the factor for fewer nodes, so one reading of the rows serves all
    network sizes.

    Parameters
    ----------
    design : Design
        The rows and what makes H of them.

    Returns
    -------
    array of shape (k, width + n_outputs)
        Upper triangular, k at most width + n_outputs.
    """
    hidden = design.hidden  # not the design: what is handed to rows travels with what it knows

    def triangle(x: Array, t: Array, w: Array) -> tuple[Array, ...]:
        xp = namespace(x)
        block = xp.concat([hidden(x), t], axis=1) * xp.sqrt(w)[:, None]
        return (triangle_of(block),)

    def merged(left: Totals, right: Totals) -> Totals:
        return (triangle_of(np.vstack([left[0], right[0]])),)

    # Blocks much taller than wide: the merging costs width^3 for each.
    width = design.width + design.y.shape[1]
    (factor,) = design.rows.reduce(
        triangle, design.X, design.y, design.weight, width=width, combine=merged
    )
    return factor


def least_squares(design: Design, *, ridge: float = 0.0, equilibrated: bool = False) -> Solution:
    """Return the output weights that minimise the weighted squared error plus a ridge.

    Parameters
    ----------
    design : Design
        The rows and what makes hidden columns of them.
    ridge : float
        Penalty on the squared output weights.
    equilibrated : bool
        Give hidden columns equal length before small directions are left out. A node in its
        far tail on all rows is tiny and yet as good as any; with columns of equal length the
        cut-off drops what is dependent, not what is small. The solution is then no longer the
        one of smallest norm.

    Returns
    -------
    Solution
        Without a ridge, directions whose singular value is under 1000 rounding units of the
        largest are left out: the pseudo-inverse with a cut-off that is the same for every
        array library and number of rows.
    """
    factor, width = triangular_factor(design), design.width
    lengths = np.linalg.norm(factor[:, :width], axis=0) if equilibrated else np.ones(width)
    lengths = np.where(lengths > 0, lengths, 1.0)
    factor = np.hstack([factor[:, :width] / lengths, factor[:, width:]])
    solved = solved_triangle(factor, width, ridge=ridge, cutoff=1e3 * eps(design.y))
    output_weights, hidden = solved / lengths[:, None], design.hidden

    def rest(x: Array, t: Array) -> Array:
        h = hidden(x)
        return t - h @ like(output_weights, h)

    return Solution(output_weights, design.rows.map(rest, design.X, design.y, width=2 * width))


def solved_triangle(factor: HostArray, width: int, *, ridge: float, cutoff: float) -> HostArray:
    """Return the output weights that a triangular factor stands for.

    Parameters
    ----------
    factor : array of shape (k, n_columns + n_outputs)
        From `triangular_factor`.
    width : int
        How many of its leading columns are hidden columns.
    ridge : float
        Penalty on the squared output weights.
    cutoff : float
        Singular values below this share of the largest count as zero if there is no ridge.

    Returns
    -------
    array of shape (width, n_outputs)
        The minimiser of smallest norm.
    """
    left, singular, right = np.linalg.svd(factor[:, :width], full_matrices=False)
    keep = singular > (cutoff * singular.max(initial=0.0) if ridge == 0 else 0.0)
    left, singular, right = left[:, keep], singular[keep], right[keep]
    whitener = right.T / np.sqrt(singular**2 + ridge)
    shrunk = singular / np.sqrt(singular**2 + ridge)
    return whitener @ (shrunk[:, None] * (left.T @ factor[:, width:]))


@dataclass(frozen=True)
class Tuned:
    """Least squares with a constant term and the ridge that errs least on left-out rows.

    Parameters
    ----------
    output_weights : array of shape (n_columns + 1, n_outputs)
        Output weights, that of the constant last.
    left_out : column of shape (n_rows, n_outputs)
        Leave-one-out residuals.
    ridge : float
        The chosen penalty for each unit of total weight.
    """

    output_weights: HostArray
    left_out: Column
    ridge: float


def ridge_by_leave_one_out(
    design: Design,
    ridges: HostArray,
    *,
    twins: Twins | None = None,
) -> Tuned:
    """Return least squares with the ridge of the lowest weighted leave-one-out error.

    Parameters
    ----------
    design : Design
        The rows and what makes hidden columns of them; its weight is the caller's times the
        learned one.
    ridges : array of shape (n_ridges,)
        Penalties to try, each positive, for each unit of total weight.
    twins : Twins or None
        Which rows are left out together; None leaves out each alone.

    Returns
    -------
    Tuned
        The constant is not penalised. Rows that the weights reject have no say in the choice.
    """
    rows, weight, width = design.rows, design.weight, design.width
    path = _ridge_path(design, ridges)
    middle = path.target_mean
    targets = rows.map(lambda t: t - like(middle, t), design.y)
    mass, mean = (weight, targets) if twins is None else twins.together(rows, targets, weight)
    asked = _Asked(path, alone=twins is None)
    told = (targets, mass, mean)
    if rows.n_rows <= CHOOSING_ROWS:
        # One reading: what all ridges leave is little beside the columns themselves.
        width_of_all = 3 * width + 3 * len(ridges)
        everything, (error,) = rows.sweep(asked.by_all, design.X, *told, weight, width=width_of_all)
        best, n_outputs = int(np.argmin(error[0])), design.y.shape[1]
        chosen = slice(best * n_outputs, (best + 1) * n_outputs)
        found = rows.map(lambda e: e[:, chosen], everything)
        return Tuned(path.output_weights(best), found, float(ridges[best]))
    # A ridge is one number: some thousand rows choose it as well as a million.
    some, columns = rows.some(spread(rows.n_rows, CHOOSING_ROWS), design.X, *told, weight)
    (error,) = some.reduce(
        lambda *blocks: asked.by_all(*blocks)[1], *columns, width=3 * width + 3 * len(ridges)
    )
    best = int(np.argmin(error[0]))
    found = rows.map(partial(asked.by_one, number=best), design.X, *told, width=3 * width)
    return Tuned(path.output_weights(best), found, float(ridges[best]))


@dataclass(frozen=True)
class _RidgePath:
    """Ridge regression with a constant for every ridge at once.

    Parameters
    ----------
    hidden : callable
        Makes hidden columns.
    hidden_mean, target_mean : arrays
        Weighted means, which the constant makes up for.
    total : float
        Sum of the weights.
    axes : array of shape (width, width)
        Eigenvectors of the centred H' W H.
    divided : array of shape (width, n_ridges)
        A column for each ridge: what multiplies a row's coordinates on the axes.
    coordinates : array of shape (width, n_outputs)
        Of the centred H' W y on the axes.
    """

    hidden: Callable[[Array], Array]
    hidden_mean: HostArray
    target_mean: HostArray
    total: float
    axes: HostArray
    divided: HostArray
    coordinates: HostArray

    def projected(self, x: Array) -> Array:
        """Return the coordinates of rows on the axes."""
        h = self.hidden(x)
        h = h - like(self.hidden_mean, h)  # first: what is common to all rows would cost digits
        return h @ like(self.axes, h)

    def left_out(self, u: Array, t: Array, w: Array, common: Array | None) -> Array:
        """Return left-out residuals for all ridges, shape (n_rows, n_ridges, n_outputs).

        `u` are the rows' coordinates, `w` is the weight of all that is left out with a row,
        `common` their mean target, None where each is left out alone.
        """
        weights = self.divided[:, :, None] * self.coordinates[:, None, :]
        n_ridges, m = weights.shape[1:]
        fitted = namespace(u).reshape(
            u @ like(weights.reshape(len(weights), n_ridges * m), u), (u.shape[0], n_ridges, m)
        )
        leverage = w[:, None] * ((u * u) @ like(self.divided, u) + 1.0 / self.total)
        others = None if common is None else common[:, None, :] - fitted
        return leave_one_out(t[:, None, :] - fitted, leverage, others)

    def left_out_of_many(
        self, x: Array, t: Array, w: Array, common: Array | None, number: int
    ) -> Array:
        """Return left-out residuals for one ridge where rows are many; see `left_out`.

        Leverages are small then, and float32 has digits enough for them; what is fitted keeps
        all of its own.
        """
        xp, h = namespace(x), self.hidden(x)
        h = h - like(self.hidden_mean, h)
        slopes = self.axes @ (self.divided[:, number, None] * self.coordinates)
        whitened = like(self.axes * np.sqrt(self.divided[:, number]), h)
        u = xp.astype(h, xp.float32) @ xp.astype(whitened, xp.float32)
        leverage = w * (xp.astype(xp.sum(u * u, axis=1), h.dtype) + 1.0 / self.total)
        fitted = h @ like(slopes, h)
        return leave_one_out(t - fitted, leverage, None if common is None else common - fitted)

    def output_weights(self, number: int) -> HostArray:
        """Return the output weights for one of the ridges, that of the constant last."""
        weights = self.axes @ (self.divided[:, number, None] * self.coordinates)
        return np.vstack([weights, self.target_mean - self.hidden_mean @ weights])


@dataclass(frozen=True)
class _Asked:
    """What ridges leave of rows that were left out, asked of blocks of rows.

    Parameters
    ----------
    path : _RidgePath
        Knows the output weights for every ridge.
    alone : bool
        Whether each row is left out alone.
    """

    path: _RidgePath
    alone: bool

    def by_all(self, x: Array, t: Array, m: Array, common: Array, w: Array) -> tuple[Array, Totals]:
        """Return left-out residuals ridge by ridge, and each ridge's weighted squares."""
        xp, others = namespace(x), None if self.alone else common
        e = self.path.left_out(self.path.projected(x), t, m, others)
        squares = w[None, :] @ xp.sum(e * e, axis=2)
        return xp.reshape(e, (e.shape[0], e.shape[1] * e.shape[2])), (squares,)

    def by_one(self, x: Array, t: Array, m: Array, common: Array, *, number: int) -> Array:
        """Return left-out residuals for one ridge."""
        return self.path.left_out_of_many(x, t, m, None if self.alone else common, number)


def _ridge_path(design: Design, ridges: HostArray) -> _RidgePath:
    """Return the path by products of columns, or where rows are few by the columns themselves."""
    local = isinstance(design.rows, LocalRows) and is_numpy_array(design.X)
    if local and design.rows.n_rows <= FEW_ROWS:
        return _path_of_few(design, ridges)
    hidden = design.hidden  # not the design: what is handed to rows travels with what it knows

    def products(x: Array, t: Array, w: Array) -> tuple[Array, ...]:
        xp = namespace(x)
        # Squaring the condition number does no harm in float64: of nodes that are bounded by one
        # and centred a millionth of the smallest ridge is lost. In float32 it would be a thousand
        # times that ridge.
        h, t, w = (xp.astype(part, xp.float64, copy=False) for part in (hidden(x), t, w))
        mass = xp.sum(w)
        share = (w / xp.maximum(mass, xp.asarray(1e-300, dtype=w.dtype, device=device(w))))[None, :]
        h_mean, t_mean = (share @ h)[0, :], (share @ t)[0, :]
        root = xp.sqrt(w)[:, None]
        h, t = (h - h_mean) * root, (t - t_mean) * root  # BLAS computes half of h'h
        return h.T @ h, h.T @ t, h_mean, t_mean, mass

    gram, moments, hidden_mean, target_mean, total = design.rows.reduce(
        products, design.X, design.y, design.weight, width=2 * design.width, combine=_centred
    )
    squares, axes = np.linalg.eigh(gram)
    divided = 1.0 / (np.clip(squares, 0.0, None)[:, None] + ridges * float(total))
    return _RidgePath(
        hidden, hidden_mean, target_mean, float(total), axes, divided, axes.T @ moments
    )


def _path_of_few(design: Design, ridges: HostArray) -> _RidgePath:
    h, t, w = design.hidden(design.X), design.y, design.weight
    total = float(np.sum(w))
    h_mean, t_mean = (w @ column / max(total, 1e-300) for column in (h, t))
    root = np.sqrt(w)[:, None]
    left, singular, right = np.linalg.svd((h - h_mean) * root, full_matrices=False)
    coordinates = singular[:, None] * (left.T @ ((t - t_mean) * root))
    divided = 1.0 / (singular[:, None] ** 2 + ridges * total)
    return _RidgePath(design.hidden, h_mean, t_mean, total, right.T, divided, coordinates)


def _centred(left: Totals, right: Totals) -> Totals:
    """Combine products about the means of two parts of the rows into those about their common one.

    Nothing large is subtracted anywhere (Chan, Golub, LeVeque 1983).
    """
    (*products, h, t, mass), (*others, h_other, t_other, mass_other) = left, right
    total = mass + mass_other
    share = mass_other / np.maximum(total, 1e-300)
    apart, t_apart = h_other - h, t_other - t
    shifts = np.outer(apart, apart), np.outer(apart, t_apart)
    gram, moments = (
        one + other + mass * share * shift
        for one, other, shift in zip(products, others, shifts, strict=True)
    )
    return gram, moments, h + share * apart, t + share * t_apart, total
