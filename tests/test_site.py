"""The built site as a reader meets it: in a real Chromium, from files, with no network."""

import json
import os
import re
import shutil
import time
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

pytestmark = pytest.mark.site

ROOT = Path(__file__).parent.parent
SITE = ROOT / "out" / "docs"
PAGES = sorted(
    path.relative_to(SITE).as_posix()
    for path in SITE.rglob("*.html")
    if not path.relative_to(SITE).parts[0].startswith("_")
)
PHONE, DESKTOP = 390, 1280
SWITCHES = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --disable-dev-shm-usage"
)


class Markup(HTMLParser):
    """What a page refers to, and what in it can be referred to."""

    def __init__(self, text):
        super().__init__()
        self.references, self.loaded, self.names = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.names |= {values[key] for key in ("id", "name") if values.get(key)}
        if tag == "a" and values.get("href"):
            self.references.append(values["href"])
        address = values.get("src") or (values.get("href") if tag == "link" else None)
        if address:
            self.loaded.append(address)


@pytest.fixture(scope="module")
def markup():
    assert PAGES, "there is no site in out/docs: run `make docs`"
    return {page: Markup((SITE / page).read_text(encoding="utf-8")) for page in PAGES}


def test_the_site_has_its_parts(markup):
    for page in ("index", "start", "guide", "gallery/index", "reference/index", "benchmarks"):
        assert f"{page}.html" in markup
    assert sum(bool(re.match(r"gallery/\d\d_", page)) for page in markup) >= 12


def test_every_link_inside_the_site_leads_somewhere(markup):
    broken = []
    for page, found in markup.items():
        for address in (*found.references, *found.loaded):
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (SITE / page).parent / unquote(parts.path) if parts.path else SITE / page
            target = Path(os.path.normpath(target))
            inside = target.is_relative_to(SITE) and target.exists()
            if inside and parts.fragment and target.suffix == ".html":
                known = markup.get(target.relative_to(SITE).as_posix())
                inside = known is None or unquote(parts.fragment) in known.names
            if not inside:
                broken.append(f"{page}: {address}")
    assert not broken


def test_nothing_is_loaded_from_another_host(markup):
    for page, found in markup.items():
        elsewhere = [a for a in found.loaded if urlsplit(a).scheme not in ("", "data")]
        assert not elsewhere, page


GROUPS = [
    "Estimators",
    "Judging and weightings",
    "Data and tables",
    "Pictures and the report",
    "Models as files",
    "Streams",
    "Dask and GPU",
    "Command line",
]


def test_the_reference_is_grouped_by_what_names_are_for(markup):
    pages = [page for page in markup if page.startswith("reference/")]
    assert len(pages) > 60
    for page in pages:
        text = (SITE / page).read_text(encoding="utf-8")
        assert re.findall(r'class="caption-text">([^<]*)<', text) == GROUPS, page


def test_every_name_in_the_reference_ends_with_examples(markup):
    names = [page for page in markup if page.startswith("reference/generated/")]
    assert names
    assert not [n for n in names if "sphx-glr-thumbcontainer" not in (SITE / n).read_text()]


def test_every_command_is_in_the_reference_with_its_options():
    from robustscn.cli.application import COMMANDS

    text = (SITE / "reference" / "commands.html").read_text(encoding="utf-8")
    for name in COMMANDS:
        assert f"Usage: robustscn {name} " in text
    assert text.count("--json") == len(COMMANDS)


class Browser:
    """Chromium with the few questions that are asked here."""

    def __init__(self, profile):
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for switch in (*SWITCHES.split(), f"--user-data-dir={profile}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(options=options, service=service)
        self.driver.execute_cdp_cmd("Network.enable", {})

    def open(self, page, *, width=DESKTOP, scheme="light"):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        path, _, query = page.partition("?")
        self.driver.get((SITE / path).as_uri() + (f"?{query}" if query else ""))

    def ask(self, script, *values):
        return self.driver.execute_script(script, *values)

    def wait(self, script, seconds=30.0):
        until = time.monotonic() + seconds
        while not (answer := self.ask(script)):
            assert time.monotonic() < until, f"never came true: {script}"
            time.sleep(0.05)
        return answer

    def errors(self):
        return [e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]

    def elsewhere(self):
        """Return what was asked of any host."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        assert asked, "the log of requests is empty"
        # A browser that is slow to start is still drawing its own first page.
        of_no_host = ("file", "data", "blob", "chrome")
        return [url for url in asked if urlsplit(url).scheme not in of_no_host]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("needs chromium and chromedriver")
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.driver.quit()


CUT_OFF = """
const scrolls = e => e && e !== document.body &&
  (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return [...document.querySelectorAll("article p, article dd, article li, article img")]
  .filter(e => e.checkVisibility() && e.getBoundingClientRect().right > innerWidth + 2)
  .filter(e => !scrolls(e)).map(e => e.textContent.slice(0, 60));
"""
"""Text that reaches beyond the screen, and that no reader can scroll to."""


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_every_page_opens_without_errors_or_requests_and_fits(browser, width):
    faults = []
    for page in PAGES:
        browser.open(page, width=width)
        # What is wider than the page by a pixel or two is rounding.
        over = browser.ask("return document.documentElement.scrollWidth - innerWidth")
        faults += [f"{page}: {error}" for error in browser.errors()]
        faults += [f"{page} asks {url}" for url in browser.elsewhere()]
        faults += [f"{page} is {over} pixels too wide"] if over > 2 else []
        faults += [f"{page} cuts off {text!r}" for text in browser.ask(CUT_OFF)]
    assert not faults


def brightness(browser, of, what):
    colour = browser.ask(
        "return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", of, what
    )
    return np.mean([float(part) for part in re.findall(r"[\d.]+", colour)[:3]]) / 255


@pytest.mark.parametrize("page", ["index.html", "gallery/01_first_fit.html", "methods.html"])
def test_the_page_is_light_or_dark_as_the_reader_has_it(browser, page):
    for scheme, dark in (("light", False), ("dark", True)):
        browser.open(page, scheme=scheme)
        browser.ask("localStorage.clear()")
        browser.open(page, scheme=scheme)
        paper = brightness(browser, "body", "backgroundColor")
        ink = brightness(browser, "article p", "color")
        assert (paper < 0.3) == dark
        assert abs(paper - ink) > 0.5


def test_search_finds_from_files(browser):
    browser.open("search.html?q=weighting")
    browser.wait("return document.querySelectorAll('#search-results li a').length > 3")
    found = browser.ask(
        "return [...document.querySelectorAll('#search-results li a')].map(a => a.href)"
    )
    assert any("own-weighting.html" in address for address in found)
    assert not browser.elsewhere()


def test_formulas_and_figures_are_drawn(browser):
    browser.open("methods.html")
    browser.wait("return document.querySelectorAll('mjx-container svg').length > 10")
    browser.open("gallery/07_growing.html")
    browser.wait("return document.querySelectorAll('.plotly-graph-div .main-svg').length > 0")
    # Drawn while the page is built up, and fitted to it when it has its width.
    browser.wait(
        "const f = document.querySelector('.plotly-graph-div .main-svg').getBoundingClientRect();"
        "const a = document.querySelector('article').getBoundingClientRect();"
        "return f.right - a.right < 2"
    )


def test_long_tables_start_folded(browser):
    browser.open("accuracy.html")
    folded, first = browser.ask(
        "const all = [...document.querySelectorAll('details.folded')];"
        "return [all.length, all[0].querySelector('table').checkVisibility()]"
    )
    assert folded >= 8
    assert not first
