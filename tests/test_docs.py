"""The sources of the documentation: complete, connected, and without a name that is not there."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    page
    for page in (*DOCS.glob("*.md"), *DOCS.glob("re*/*.md"))
    if page.parent.name in ("docs", "reference", "reproduction")
)
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))
PARTS = ("dask", "datasets", "looks", "onnx", "persistence", "plots", "report", "river")
PUBLIC = ("robustscn", "robustscn.weighting", *(f"robustscn.{part}" for part in PARTS))


def listed():
    """Return the names in the reference, by module."""
    text = (DOCS / "reference" / "index.md").read_text()
    names = {}
    for module, block in re.findall(r"currentmodule:: (\S+)\n\n(.*?)```", text, flags=re.S):
        names.setdefault(module, []).extend(re.findall(r"^   (\w+)$", block, flags=re.M))
    return names


@pytest.mark.parametrize("module", PUBLIC)
def test_the_reference_has_every_public_name_and_no_other(module):
    assert sorted(listed()[module]) == sorted(importlib.import_module(module).__all__)


def test_the_reference_has_every_public_module():
    assert sorted(listed()) == sorted(PUBLIC)


def linked_from(page):
    text = page.read_text()
    blocks = re.findall(r"```\{toctree\}\n(.*?)```", text, flags=re.S)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    entries = [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and line[0] != ":"]
    return {(page.parent / f"{entry}.md").resolve() for entry in entries}


def test_every_page_can_be_reached_from_the_front_page():
    reached, waiting = set(), {(DOCS / "index.md").resolve()}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        if page.exists():  # the gallery's are made from its scripts
            waiting |= linked_from(page) - reached
    assert {page.resolve() for page in PAGES} <= reached


def test_the_gallery_is_numbered_from_one_and_has_what_was_promised():
    assert [int(path.name[:2]) for path in GALLERY] == list(range(1, len(GALLERY) + 1))
    assert len(GALLERY) >= 12


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_an_example_has_a_title_an_introduction_and_a_picture(path):
    tree = ast.parse(path.read_text())
    title, underline, _, *introduction = ast.get_docstring(tree).splitlines()
    assert underline == "=" * len(title)
    assert len(" ".join(introduction)) > 60
    assert "plt.show()" in path.read_text()


def test_a_table_that_its_page_folds_is_not_folded_twice():
    """It would take two clicks; what stands after it on the page is folded as ever."""
    from docutils import nodes

    path = DOCS / "_extensions" / "folded.py"
    folded = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location("f", path)
    )
    spec.loader.exec_module(folded)

    def table():
        return nodes.table(
            "", *(nodes.row("", nodes.entry("", nodes.Text("x"))) for _ in range(12))
        )

    def html(text):
        return nodes.raw("", text, format="html")

    by_page = [html("<details><summary>"), html("</summary>"), table(), html("</details>")]
    section = nodes.section("", nodes.title("", "numbers"), *by_page, table())
    folded._fold(None, section, "measured")
    raw = [node.astext() for node in section.findall(nodes.raw)]
    assert sum(text.count("<details") for text in raw) == 2, "the page's own and one"
    assert raw[-2].startswith('<details class="folded"><summary>numbers')


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_between_pages_lead_somewhere_on_the_host_of_the_repository(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]*)?\)", text):
        if re.match(r"https?:", target) or "gallery/" in target:
            continue
        assert (page.parent / target).exists(), target


def test_figures_on_the_benchmarks_page_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    page = (DOCS / "benchmarks.md").read_text()
    readme = (ROOT / "README.md").read_text()
    won = re.search(r"in (\d+) of (\d+) pairs", readme).groups()
    assert (
        f"Of {won[1]} pairs of data and kind of contamination it is ahead of every peer in " in page
    )
    assert f"every peer in {won[0]}." in page
    (tools,) = re.findall(r"beside (\d+) tuned tools", readme)
    assert f"beside {tools} tuned tools" in page
    learner = (DOCS / "learner.md").read_text()
    ratios = [float(r) for r in re.findall(r"\| ([\d.]+), [\d.]+ \|$", learner, flags=re.M)]
    assert f"{min(ratios):.0f} to {max(ratios):.0f} times as long" in page
