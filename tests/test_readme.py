"""The README stays true: its tables are those of the committed results.

That its code runs is asked with that of all pages: test_docs_code.py.
"""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_tables_are_those_of_the_committed_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    made = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))
    assert made["measured"](README) == README
    page = (ROOT / "docs" / "measured.md").read_text()
    assert made["everything"](page) == page


def test_its_first_screen_says_how_to_get_it_what_to_type_and_what_it_is_weak_at():
    screen = "\n".join(README.splitlines()[:16])
    for words in ("pip install", "robustscn fit", "good at", "weak at", "wrong *inputs*"):
        assert words in screen


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    pages = [README, (ROOT / "CONTRIBUTING.md").read_text()]
    pages.append((ROOT / "benchmarks" / "README.md").read_text())
    named = {
        name for page in pages for name in re.findall(r"(?:^|`)make ([a-z-]+)", page, flags=re.M)
    }
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("name", re.findall(r"\]\(([a-z][\w/.-]*)\)", README))
def test_every_link_leads_somewhere(name):
    assert (ROOT / name).exists()
