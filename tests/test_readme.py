"""The README stays true: its code runs and its tables are those of the committed results."""

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_ten_lines_run_and_find_the_wrong_rows(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.S)
    exec(compile(code, "README.md", "exec"), {})
    found, total = map(
        int, re.match(r"(\d+) of (\d+) wrong rows", capsys.readouterr().out).groups()
    )
    assert total == 150
    assert found >= 145


def test_the_tables_are_those_of_the_committed_results():
    measured = runpy.run_path(str(ROOT / "benchmarks" / "readme.py"))["measured"]
    assert measured(README) == README


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
    pages = [README, (ROOT / "CONTRIBUTING.md").read_text()]
    pages.append((ROOT / "benchmarks" / "README.md").read_text())
    named = {
        name for page in pages for name in re.findall(r"(?:^|`)make ([a-z-]+)", page, flags=re.M)
    }
    assert {"demo", "test"} <= named <= targets
