"""The literal formulas of the papers: loops, pseudo-inverses, refits. Slow on purpose.

Nothing here is shared with the library. Each function is the formula as it is printed, for
arrays small enough that nobody minds, and the fast core is held against it. Names follow the
papers where the library's differ: e residuals, theta weights, H hidden columns, T targets,
beta output weights, r contraction, L the number of the node that is sought (from 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

Candidates = tuple[np.ndarray, np.ndarray]
"""Input weights of shape (d, n) and biases of shape (n,)."""


def hidden(X, w, b):
    """g(x_i . w_j + b_j), g the logistic function, one entry at a time."""
    H = np.empty((X.shape[0], len(b)))
    for i in range(X.shape[0]):
        for j in range(len(b)):
            z = b[j]
            for k in range(X.shape[1]):
                z += X[i, k] * w[k, j]
            H[i, j] = 1.0 / (1.0 + math.exp(-z)) if z > -700 else 0.0
    return H


# --- the supervisory inequality -------------------------------------------------------------


def xi(e, h, theta, r, L):
    """Scores xi_q of one candidate, one for each output."""
    s = np.sqrt(theta)
    h_weighted = s * h
    mu = (1.0 - r) / (L + 1)
    scores = []
    for q in range(e.shape[1]):
        e_weighted = s * e[:, q]
        bound = np.dot(e_weighted, h_weighted) ** 2 / np.dot(h_weighted, h_weighted)
        scores.append(bound - (1.0 - r - mu) * np.dot(e_weighted, e_weighted))
    return np.array(scores)


def largest_score(e, H, theta, contractions, L):
    """The admissible candidate with the largest summed score at the first r that has any."""
    for r in contractions:
        best, best_score = None, -np.inf
        for j in range(H.shape[1]):
            scores = xi(e, H[:, j], theta, r, L)
            if min(scores) >= 0 and sum(scores) > best_score:
                best, best_score = j, sum(scores)
        if best is not None:
            return best, r
    return None


def searched(X, e, theta, pools: Sequence[Candidates], contractions, L, *, pooled):
    """The chosen parameters (w, b, r): scope outside and r inside, or all scopes together."""
    if pooled:
        pools = [
            (
                np.concatenate([w for w, _ in pools], axis=1),
                np.concatenate([b for _, b in pools]),
            )
        ]
    for w, b in pools:
        found = largest_score(e, hidden(X, w, b), theta, contractions, L)
        if found is not None:
            j, r = found
            return w[:, [j]], b[[j]], r
    return None


# --- output weights -------------------------------------------------------------------------


def weighted_pinv(H, T, theta, rcond=None):
    """The pseudo-inverse solution of min sum theta_i |H_i beta - t_i|^2."""
    s = np.sqrt(theta)[:, None]
    if rcond is None:  # NumPy's choice, which its first version does not make for None
        rcond = max(H.shape) * np.finfo(H.dtype).eps
    return np.linalg.pinv(s * H, rcond=rcond) @ (s * T)


def ridge_weights(H, T, theta, ridge):
    """(H' Theta H + ridge I)^-1 H' Theta T."""
    A = H.T @ (theta[:, None] * H) + ridge * np.eye(H.shape[1])
    return np.linalg.solve(A, H.T @ (theta[:, None] * T))


def hat_diagonal(H, theta, ridge=0.0):
    """Diagonal of sqrt(Theta) H (H' Theta H + ridge I)^-1 H' sqrt(Theta)."""
    s = np.sqrt(theta)[:, None]
    A = H.T @ (theta[:, None] * H) + ridge * np.eye(H.shape[1])
    hat = (s * H) @ np.linalg.solve(A, (s * H).T)
    return np.diagonal(hat)


def refitted_without(H, T, theta, counts, ridge=0.0):
    """Each row's residual after one of its repetitions is taken out and the rest refitted.

    `counts` is how many rows each row stands for and `theta` what one of them weighs.
    """
    out = np.empty_like(T)
    for i in range(H.shape[0]):
        fewer = counts.astype(float).copy()
        fewer[i] -= 1.0
        out[i] = T[i] - H[i] @ ridge_weights(H, T, theta * fewer, ridge)
    return out


def ridge_with_constant(H, T, theta, ridge):
    """Ridge output weights with a constant column, last, that is not penalised."""
    A = np.hstack([H, np.ones((H.shape[0], 1))])
    penalty = ridge * np.diag([1.0] * H.shape[1] + [0.0])
    return np.linalg.solve(A.T @ (theta[:, None] * A) + penalty, A.T @ (theta[:, None] * T))


def refitted_without_penalised(H, T, theta, counts, ridge):
    """As `refitted_without`, with a constant that is not penalised."""
    out = np.empty_like(T)
    for i in range(H.shape[0]):
        fewer = counts.astype(float).copy()
        fewer[i] -= 1.0
        beta = ridge_with_constant(H, T, theta * fewer, ridge)
        out[i] = T[i] - np.append(H[i], 1.0) @ beta
    return out


# --- growing --------------------------------------------------------------------------------


@dataclass
class Grown:
    """A network of the reference at one size."""

    w: np.ndarray
    b: np.ndarray
    beta: np.ndarray
    residuals: np.ndarray
    r: float


def grown(
    X,
    T,
    theta,
    pools: Callable[[int], Sequence[Candidates]],
    contractions,
    max_nodes,
    *,
    algorithm,
    window=None,
    pooled=True,
) -> Iterator[Grown]:
    """SC-I, SC-II or SC-III, with every output weight from a pseudo-inverse of hidden columns."""
    d, m = X.shape[1], T.shape[1]
    w, b, beta = np.zeros((d, 0)), np.zeros(0), np.zeros((0, m))
    e = T.copy()
    for L in range(1, max_nodes + 1):
        found = searched(X, e, theta, pools(L - 1), contractions, L, pooled=pooled)
        if found is None:
            return
        w, b = np.concatenate([w, found[0]], axis=1), np.concatenate([b, found[1]])
        H = hidden(X, w, b)
        if algorithm == "SC-I":
            h = H[:, -1]
            new = [np.dot(theta * e[:, q], h) / np.dot(theta * h, h) for q in range(m)]
            beta = np.vstack([beta, new])
        elif algorithm == "SC-II":
            start = max(0, L - window)
            freed = T - H[:, :start] @ beta[:start]
            beta = np.vstack([beta[:start], weighted_pinv(H[:, start:], freed, theta)])
        else:
            beta = weighted_pinv(H, T, theta)
        e = T - H @ beta
        yield Grown(w, b, beta, e, found[2])


# --- kernel density weights -----------------------------------------------------------------


def bandwidth(e, counts):
    """tau = 1.06 sigma N^(-1/5), a row of count k standing for k rows; sigma is pooled."""
    N, m = float(np.sum(counts)), e.shape[1]
    variance = 0.0
    for q in range(m):
        mean = sum(c * x for c, x in zip(counts, e[:, q], strict=True)) / N
        variance += sum(c * (x - mean) ** 2 for c, x in zip(counts, e[:, q], strict=True)) / N
    return 1.06 * math.sqrt(variance / m) * N ** (-0.2)


def kernel_density(e, tau, counts=None, *, without_self=False):
    """theta_i = 1 / (tau N) sum_k K(|e_i - e_k| / tau), pair by pair."""
    n = e.shape[0]
    counts = np.ones(n) if counts is None else counts
    N = float(np.sum(counts))
    theta = np.zeros(n)
    for i in range(n):
        for k in range(n):
            t = math.sqrt(sum((e[i, q] - e[k, q]) ** 2 for q in range(e.shape[1]))) / tau
            times = counts[k] - 1.0 if without_self and i == k else counts[k]
            theta[i] += times * math.exp(-t * t / 2.0) / math.sqrt(2.0 * math.pi)
    return theta / (tau * N)


def kde_weights(e, counts=None):
    """The textbook weights, scaled to mean one."""
    counts = np.ones(e.shape[0]) if counts is None else counts
    theta = kernel_density(e, bandwidth(e, counts), counts)
    return theta * (np.sum(counts) / np.sum(counts * theta))


def rsc_kde(X, T, pools, contractions, max_nodes, n_rounds, *, pooled):
    """(network, theta it was built with) for each round; each is grown from nothing."""
    theta = np.ones(X.shape[0])
    for number in range(n_rounds):
        *_, network = grown(
            X,
            T,
            theta,
            lambda node, number=number: pools(node, number),
            contractions,
            max_nodes,
            algorithm="SC-III",
            pooled=pooled,
        )
        yield network, theta
        theta = kde_weights(network.residuals)


# --- baselines ------------------------------------------------------------------------------


def improved_rvfl(H, T, n_rounds, tol):
    """Kernel density weights and weighted least squares in turn: (beta, rounds done)."""
    theta = np.ones(H.shape[0])
    before = None
    for number in range(1, n_rounds + 1):
        beta = weighted_pinv(H, T, theta)
        if before is not None and np.linalg.norm(beta - before) <= tol * np.linalg.norm(beta):
            return beta, number
        before = beta
        theta = kde_weights(T - H @ beta)
    return beta, n_rounds


def prnnrw(H, y, rho, delta, n_rounds, tol):
    """Laplace noise by EM with a Gaussian prior, one output: (beta, rounds done)."""
    omega = np.ones(H.shape[0])
    before = None
    for number in range(1, n_rounds + 1):
        beta = ridge_weights(H, y, omega, rho)
        if before is not None and np.linalg.norm(beta - before) <= tol * np.linalg.norm(beta):
            return beta, number
        before = beta
        omega = np.array([1.0 / max(abs(error), delta) for error in (y - H @ beta)[:, 0]])
    return beta, n_rounds


# --- quantiles and robust distances ---------------------------------------------------------


def by_sorting(values, weight, share):
    """The smallest value with at least a share of the weight at or below it."""
    values, weight = values[weight > 0], weight[weight > 0].astype(float)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    return values[order][np.searchsorted(reached, share * reached[-1] * (1 - 1e-13))]


def weighted_median(values, counts):
    """The smallest value with at least half of the rows at or below it, rows written out."""
    repeated = np.sort(np.repeat(values, counts.astype(int)))
    return repeated[math.ceil(len(repeated) / 2) - 1]


def trimmed_scale(e, counts):
    """1.4826 times the median of |e|, again without rows beyond three times it until it stays."""
    scale = 1.4826022 * weighted_median(np.abs(e), counts)
    while True:
        near = np.abs(e) <= 3 * scale
        renewed = 1.4826022 * weighted_median(np.abs(e[near]), counts[near])
        if renewed >= scale:
            return scale
        scale = renewed
