"""The house itself: what an import costs, what every public name explains, sizes, the map."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import robustscn

PACKAGE = Path(robustscn.__file__).parent
HEAVY = (
    "pandas",
    "matplotlib",
    "dask",
    "torch",
    "polars",
    "plotly",
    "pyarrow",
    "skops",
    "onnx",
    "onnxruntime",
    "skl2onnx",
    "typer",
    "starlette",
    "uvicorn",
)


def printed_by(code):
    environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_imports_no_optional_library():
    # scikit-learn itself imports pandas where it finds it; that is not ours to prevent.
    dependencies = "array_api_compat, scipy.linalg, scipy.stats, sklearn.base, sklearn.utils"
    code = (
        f"import sys, {dependencies}; before = set(sys.modules); import robustscn.estimators; "
        f"print(sorted(set({HEAVY!r}) & (set(sys.modules) - before)))"
    )
    assert printed_by(code) == "[]"


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("import robustscn", set()),
        ("from robustscn.cli import main; main(['--help'])", {"rich", "typer"}),
        (
            "from robustscn.cli import main; from robustscn.cli.application import COMMANDS; "
            "[main([name, '--help']) for name in COMMANDS]",
            {"numpy", "rich", "typer"},
        ),
    ],
)
def test_nobody_waits_for_libraries_that_are_not_needed_yet(code, needed):
    slow = {"numpy", "scipy", "sklearn", *HEAVY} - needed
    loaded = printed_by(f"import sys; {code}; print(sorted({slow!r} & set(sys.modules)))")
    assert loaded.splitlines()[-1] == "[]"


def test_names_that_are_loaded_late_are_listed_and_others_are_errors():
    assert set(robustscn.__all__) <= set(dir(robustscn))
    with pytest.raises(AttributeError, match="no attribute 'RobustSNCRegressor'"):
        _ = robustscn.RobustSNCRegressor


WITHOUT_OPTIONAL = f"""
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Missing())
import numpy, robustscn
X = numpy.linspace(0, 1, 30)[:, None]
print(robustscn.SCNRegressor(3, random_state=0).fit(X, numpy.sin(9 * X[:, 0])).n_nodes_)
"""


def test_the_package_works_where_no_optional_library_is_installed():
    assert printed_by(WITHOUT_OPTIONAL) == "3"


@pytest.mark.parametrize("name", robustscn.__all__)
def test_every_public_name_has_a_docstring_with_examples(name):
    documentation = inspect.getdoc(getattr(robustscn, name)) or ""
    assert "\nExamples\n--------\n" in documentation, f"{name} has no Examples section"
    assert ">>> " in documentation.split("\nExamples\n--------\n")[1]


def test_every_public_name_is_sorted_and_exists():
    assert sorted(robustscn.__all__) == sorted(set(robustscn.__all__))
    assert all(hasattr(robustscn, name) for name in robustscn.__all__)


def functions():
    """Yield where each function of the package stands, its node, and whether it is the core's."""
    for module in sorted(PACKAGE.rglob("*.py")):
        where = module.relative_to(PACKAGE)
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{where}: {node.name}", node, where.parts[0] == "core"


def lines_of_code(function):
    """Lines of a function without its docstring."""
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    spent = body[0].end_lineno - body[0].lineno + 1 if documented else 0
    return function.end_lineno - function.lineno + 1 - spent


def number_of_arguments(function):
    """Arguments that a caller gives."""
    args = function.args
    named = [each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    return len(named) - (named[:1] in (["self"], ["cls"]))


def test_no_function_is_longer_than_a_page():
    sizes = [(where, lines_of_code(node)) for where, node, _ in functions()]
    assert len(sizes) > 1000  # the package was looked at
    assert [each for each in sizes if each[1] > 60] == []


def test_no_function_of_the_core_takes_more_than_seven_arguments():
    counts = [(where, number_of_arguments(node)) for where, node, core in functions() if core]
    assert ("core/judging.py: judge", 6) in counts
    assert ("core/judging.py: inlier_weight", 0) in counts  # itself does not count
    assert [each for each in counts if each[1] > 7] == []


def test_every_constant_of_the_core_says_why_it_has_its_value():
    silent, count = [], 0
    for path in sorted((PACKAGE / "core").glob("*.py")):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            name = ast.unparse(target)
            count += name.upper() == name
            explained = isinstance(after, ast.Expr) and len(ast.unparse(after)) > 30
            if name.upper() == name and not explained:
                silent.append(f"{path.name}: {name}")
    assert count > 70
    assert silent == []


def code_lines(path):
    """Yield number and text of lines that do something: no docstring, comment, import, signature.

    Nor lines that keep constructor arguments: scikit-learn wants both written out.
    """
    text = path.read_text(encoding="utf-8")
    passed = set()
    for node in ast.walk(ast.parse(text)):
        text_alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if text_alone or isinstance(node, ast.Import | ast.ImportFrom):
            passed |= set(range(node.lineno, node.end_lineno + 1))
        elif isinstance(node, ast.FunctionDef):
            passed |= set(range(node.lineno, node.body[0].lineno))
    for number, line in enumerate(text.splitlines(), start=1):
        plain = line.split("  # ")[0].strip()
        kept = re.fullmatch(r"self\.(\w+) = \1", plain)
        if number not in passed and len(plain) > 1 and not plain.startswith("#") and not kept:
            yield number, plain


def test_no_six_lines_stand_twice():
    stands, twice = {}, []
    for path in sorted(PACKAGE.rglob("*.py")):
        lines = list(code_lines(path))
        for start in range(len(lines) - 5):
            run = tuple(text for _, text in lines[start : start + 6])
            here = f"{path.relative_to(PACKAGE)}:{lines[start][0]}"
            if stands.setdefault(run, here) != here:
                twice.append((stands[run], here))
    assert len(stands) > 5000
    assert twice == []


def test_the_map_in_contributing_names_every_part_of_the_house():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    house = text.split("## The house")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in house.splitlines() if line.startswith("| `")]
    named = re.findall(r"`([^`]+)`", "".join(rows))
    parts = {f"{path.name}/" for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    parts |= {path.name for path in PACKAGE.glob("*.py")}
    parts |= {f"core/{path.name}" for path in (PACKAGE / "core").glob("*.py")}
    parts -= {"core/", "core/__init__.py", "__init__.py"}
    assert sorted(named) == sorted(parts)


def test_every_file_of_the_core_has_tests_of_its_name():
    modules = {path.stem for path in (PACKAGE / "core").glob("*.py")} - {"__init__"}
    tested = {path.stem for path in (Path(__file__).parent / "core").glob("test_*.py")}
    assert tested == {f"test_{name}" for name in modules}


def test_skips_fail_where_none_are_wanted(tmp_path):
    missing = "pytest.importorskip('no_such_library')"
    bodies = {
        "in_a_test": f"def test_nothing():\n    {missing}\n",
        "in_a_module": f"{missing}\ndef test_nothing():\n    pass\n",
        "by_a_mark": "@pytest.mark.skip\ndef test_nothing():\n    pass\n",
    }
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nxfail_strict = true\n")
    for name, body in bodies.items():
        (tmp_path / f"test_{name}.py").write_text(f"import pytest\n{body}")
    (tmp_path / "test_expected.py").write_text(
        "import pytest\n@pytest.mark.xfail\ndef test_known():\n    assert False\n"
    )

    def outcome(**setting):
        environment = {k: v for k, v in os.environ.items() if k != "ROBUSTSCN_NO_SKIPS"}
        return subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"),
                *("--continue-on-collection-errors", str(tmp_path)),
            ],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            env=environment | setting,
        )

    allowed, refused = outcome(), outcome(ROBUSTSCN_NO_SKIPS="1")
    assert allowed.returncode == 0, allowed.stdout
    assert refused.returncode != 0, refused.stdout
    for name in bodies:
        assert re.search(f"(FAILED|ERROR) test_{name}.py", refused.stdout), refused.stdout
    assert refused.stdout.count("ROBUSTSCN_NO_SKIPS is set") >= len(bodies)
    assert "1 xfailed" in refused.stdout


def test_what_is_tested_elsewhere_is_there(monkeypatch):
    tools = Path(__file__).parent.parent / "tools"
    monkeypatch.syspath_prepend(str(tools))
    suite, versions = import_module("suite"), import_module("versions")
    kernels = import_module("kernels")
    core = [f"tests/core/test_{name}.py" for name in kernels.CORE]
    parts = suite.LAST_BITS | suite.ROUND_TRIPS
    chosen = [*suite.chosen((*suite.NUMBERS, *versions.LIBRARIES), parts), *core]
    assert all((tools.parent / each).exists() for each in chosen if each.startswith("tests/"))
    checks = ("memory", "sample_weight")  # of scikit-learn, chosen by their names
    for file, words in parts.items():
        text = Path(__file__).with_name(f"test_{file}.py").read_text()
        names = " ".join(re.findall(r"def (test_\w+)", text))
        assert all(word in names or word in checks for word in words), file
