"""What an estimator says of itself in a notebook, and what is said of an installation."""

import platform
import re

import numpy as np
import pytest
from sklearn import config_context

import robustscn
from robustscn import RobustRegressor, RobustSCNRegressor, RSCKDERegressor, RVFLRegressor


@pytest.fixture(scope="module")
def rows():
    X = np.linspace(0, 1, 80)[:, None]
    y = np.sin(6 * X[:, 0])
    y[::20] += 5.0
    return X, y


def said(model):
    html = model._repr_mimebundle_()["text/html"]
    assert html == model._repr_html_() or "sk-container-id" in html  # ids count up
    return re.sub(r"<[^>]+>", "", html.rpartition("<div style=")[2].partition(">")[2])


def test_a_fitted_robust_estimator_shows_nodes_rounds_and_flagged_rows(rows):
    model = RobustSCNRegressor(n_networks=2, max_nodes=10, random_state=0).fit(*rows)
    text = said(model)
    assert f"nodes {model.n_nodes_}" in text
    assert f"round kept {model.n_rounds_}" in text
    assert f"rows flagged {model.outliers_.sum()} of 80" in text
    assert model.outliers_.sum() >= 4


@pytest.mark.parametrize(
    ("model", "known", "unknown"),
    [
        (RVFLRegressor(5, random_state=0), ["nodes 5"], ["flagged", "round"]),
        (RSCKDERegressor(5, random_state=0), ["nodes 5", "flagged", "round kept 5"], ["share"]),
        (RobustRegressor(random_state=0), ["flagged", "share"], ["nodes"]),
    ],
)
def test_only_what_is_known_is_said(rows, model, known, unknown):
    text = said(model.fit(*rows))
    assert all(word in text for word in known)
    assert not any(word in text for word in unknown)


def test_before_a_fit_and_as_text_it_is_what_scikit_learn_shows():
    model = RobustSCNRegressor()
    assert "rows flagged" not in model._repr_html_()
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert set(model._repr_mimebundle_()) == {"text/plain"}


def test_text_of_a_fit_is_shown_as_text(rows):
    model = RVFLRegressor(5, random_state=0).fit(*rows)
    model.stop_reason_ = "<script>alert(1)</script>"
    assert "<script>alert(1)" not in model._repr_html_()


def test_versions_are_those_that_are_installed(capsys):
    robustscn.show_versions()
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["robustscn"] == robustscn.__version__
    assert lines["Python"] == platform.python_version()
    assert lines["numpy"] == np.__version__
    assert {"scikit-learn", "scipy", "pandas", "system", "cores"} <= set(lines)


def test_what_is_not_installed_is_a_dash():
    from robustscn.versions import installed

    assert installed("no-such-package-at-all") == "-"
