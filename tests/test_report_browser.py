"""The report as a reader meets it: in a real Chromium, from a file, with no network."""

import base64
import json
import shutil
import time

import numpy as np
import pandas as pd
import pytest

from robustscn import RobustSCNRegressor
from robustscn.datasets import contaminate, make_grinding
from robustscn.report import record_of, write_report

webdriver = pytest.importorskip("selenium.webdriver")
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("needs chromium and chromedriver", allow_module_level=True)

pytestmark = pytest.mark.browser

EVIL = "<script>alert(1)</script>"
SWITCHES = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking "
    "--disable-component-update --disable-sync --no-first-run --disable-dev-shm-usage"
)
LIGHT, DARK = ({"name": "prefers-color-scheme", "value": theme} for theme in ("light", "dark"))


class Browser:
    """Chromium with the few questions that are asked here."""

    def __init__(self, profile):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for switch in (*SWITCHES.split(), f"--user-data-dir={profile}"):
            options.add_argument(switch)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(executable_path=DRIVER)
        )

    def open(self, path, *, width=1280, scheme=LIGHT):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(path.as_uri())
        self.ask("localStorage.clear()")
        self.wait("return performance.getEntriesByName('robustscn-complete').length")

    def ask(self, script, *values):
        return self.driver.execute_script(script, *values)

    def wait(self, script, seconds=30.0):
        until = time.monotonic() + seconds
        while not (answer := self.ask(script)):
            assert time.monotonic() < until, f"never came true: {script}"
            time.sleep(0.05)
        return answer

    def cells(self, column):
        names = self.ask("return [...document.querySelectorAll('th')].map(th => th.innerText)")
        k = [name.strip() for name in names].index(column)
        return self.ask(
            "return [...document.querySelectorAll('tbody tr')]"
            ".map(tr => tr.children[arguments[0]].textContent)",
            k,
        )

    def header(self, column):
        names = self.ask("return [...document.querySelectorAll('th')].map(th => th.innerText)")
        k = [name.strip() for name in names].index(column)
        return self.driver.find_elements("css selector", "th button")[k]

    def messages(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Return (document, address) of everything that was asked for."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        return [
            (event["params"]["documentURL"], event["params"]["request"]["url"])
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]

    def hovered(self, figure, trace, i):
        """Return what is shown with the mouse on a point."""
        x, y = self.ask(
            """
            const plot = document.querySelector(`[data-figure="${arguments[0]}"]`);
            plot.scrollIntoView({ block: "center" });
            const { xaxis, yaxis } = plot._fullLayout;
            const { x, y } = plot.data[arguments[1]];
            const box = plot.getBoundingClientRect();
            return [box.left + xaxis._offset + xaxis.d2p(x[arguments[2]]),
                    box.top + yaxis._offset + yaxis.d2p(y[arguments[2]])];
            """,
            figure,
            trace,
            i,
        )
        for shift in (3, 0):
            self.driver.execute_cdp_cmd(
                "Input.dispatchMouseEvent", {"type": "mouseMoved", "x": x + shift, "y": y}
            )
        return self.wait(
            f"""return document.querySelector('[data-figure="{figure}"] .hoverlayer')"""
            ".textContent"
        )


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.driver.quit()


def fitted(frame, targets, features, **settings):
    settings = {"n_networks": 4, "max_nodes": 20, "n_rounds": 4, "random_state": 0} | settings
    return RobustSCNRegressor(**settings).fit(frame[features], frame[targets])


@pytest.fixture(scope="module")
def grinding():
    X, y = make_grinding(300, rng=0)
    dirty, _ = contaminate(y, 0.25, rng=0)
    frame = pd.DataFrame(X, columns=["ore feed", EVIL, "sump water"]).assign(size=dirty)
    return frame, fitted(frame, "size", ["ore feed", EVIL, "sump water"])


@pytest.fixture(scope="module")
def page(grinding, tmp_path_factory):
    frame, model = grinding
    record = record_of(model, frame, targets="size", features=["ore feed", EVIL, "sump water"])
    return write_report(record, tmp_path_factory.mktemp("page") / "report.html")


@pytest.fixture(scope="module")
def large_page(tmp_path_factory):
    """Ten thousand rows with dates, two targets of which one has a hostile name, a stripe."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(10_000, 4)), columns=list("abcd"))
    frame["when"] = pd.date_range("2026-01-01", periods=10_000, freq="10min")
    frame["y"] = frame["a"] + 0.1 * rng.normal(size=10_000)
    frame[EVIL] = frame["b"] + 0.1 * rng.normal(size=10_000)
    frame.loc[4000:4300, "y"] += 5.0
    targets = ["y", EVIL]
    model = fitted(frame, targets, list("abcd"), max_nodes=5, n_rounds=3)
    record = record_of(model, frame, targets=targets, features=list("abcd"), time="when")
    return write_report(record, tmp_path_factory.mktemp("large") / "report.html")


def test_it_opens_without_an_error_and_asks_no_host(browser, page):
    browser.open(page)
    assert browser.messages() == []
    requests = browser.requests()
    # The empty tab that Chromium starts with has resources of its own, none from a host.
    assert not any(address.startswith(("http", "ws")) for _, address in requests)
    own = [address for document, address in requests if document == page.as_uri()]
    assert own[0] == page.as_uri()
    assert {address.split(":")[0] for address in own} <= {"file", "data", "blob"}
    assert browser.ask("return document.querySelectorAll('.plot .main-svg').length") > 6


def test_hovering_a_point_shows_its_row_and_raw_values(browser, page, grinding):
    frame, model = grinding
    browser.open(page)
    row = int(model.outlier_table()["row"].iloc[0])
    last = browser.ask("return report.page.rows - 1")
    text = browser.hovered("fit", 1, last)
    assert text.startswith(f"row {row}observed size: ")
    low, high = browser.ask(f"return ['low-0', 'high-0'].map((name) => report.shown(name, {last}))")
    assert f"plausible: {low} to {high}" in text
    assert browser.cells("plausible")[0] == f"{low} to {high}"
    assert f"{EVIL}: {frame[EVIL].iloc[row]:.6g}" in text
    assert f"row {row}observed" in browser.hovered("weights", 0, last)


def test_the_table_sorts_by_mouse_and_by_keyboard(browser, page, grinding):
    frame, model = grinding
    table = model.outlier_table()
    browser.open(page)
    assert browser.cells("row") == [str(row) for row in table["row"][:20]]
    browser.header("row").click()
    assert browser.cells("row") == [str(row) for row in sorted(table["row"])[:20]]
    browser.header("row").send_keys("\ue007")
    assert browser.cells("row") == [str(row) for row in sorted(table["row"])[::-1][:20]]
    state = "return [...document.querySelectorAll('th')].map(th => th.ariaSort)"
    assert browser.ask(state) == ["descending"] + ["none"] * 9
    browser.header("ore feed").click()
    lowest = frame.loc[table["row"], "ore feed"].nsmallest(20).index
    assert browser.cells("row") == [str(row) for row in lowest]
    browser.driver.find_element("id", "all").click()
    assert len(browser.cells("row")) == len(table)


def test_the_table_is_searched(browser, page, grinding):
    _, model = grinding
    browser.open(page)
    # Of the last rows one whose number is not part of many others.
    row = next(str(number) for number in model.outlier_table()["row"][::-1] if number >= 100)
    assert row not in browser.cells("row")
    search = browser.driver.find_element("id", "search")
    search.send_keys(row)
    assert row in browser.cells("row")
    assert "matching rows" in browser.driver.find_element("id", "count").text
    search.clear()
    search.send_keys("no such value")
    assert browser.cells("row") == []


def settled(browser, script, wanted):
    """Return whether a script's answer is what is wanted soon: figures are drawn one by one."""
    for _ in range(100):
        if wanted(browser.ask(script)):
            return True
        time.sleep(0.1)
    return False


def test_the_theme_follows_the_system_and_the_button_and_so_do_the_figures(browser, page):
    colours = """
        const text = document.querySelector('[data-figure="fit"] .xtitle');
        return [getComputedStyle(document.body).backgroundColor, getComputedStyle(text).fill];
    """
    browser.open(page, scheme=LIGHT)
    light = browser.ask(colours)
    assert light[0] == "rgb(255, 255, 255)"
    browser.driver.find_element("id", "theme").click()
    assert settled(browser, colours, lambda found: found[1] != light[1])
    dark = browser.ask(colours)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    browser.open(page, scheme=DARK)
    assert browser.ask(colours) == dark
    browser.driver.find_element("id", "theme").click()
    assert settled(browser, colours, lambda found: found == light)


def test_a_phone_does_not_scroll_sideways(browser, page, large_page):
    for path in (page, large_page):
        browser.open(path, width=390)
        assert browser.ask("return document.documentElement.scrollWidth") <= 390
        widths = browser.ask(
            "return [...document.querySelectorAll('.main-svg')].map(s => s.width.baseVal.value)"
        )
        assert max(widths) <= 390


def test_a_printed_page_is_light_and_has_every_figure_at_the_width_of_the_sheet(browser, page):
    browser.open(page, scheme=DARK)
    browser.ask(
        """
        window.printed = null;
        addEventListener("beforeprint", () => {
            const plots = [...document.querySelectorAll(".plot")];
            printed = [document.documentElement.dataset.theme, plots.map(p => p._fullLayout.width)];
        });
        """
    )
    pdf = browser.driver.execute_cdp_cmd("Page.printToPDF", {})["data"]
    assert base64.b64decode(pdf).startswith(b"%PDF")
    theme, widths = browser.ask("return printed")
    assert theme == "light"
    assert len(widths) == 9
    assert max(widths) <= 700
    assert browser.ask("return document.documentElement.dataset.theme") == "dark"


def test_ten_thousand_rows_are_light_and_quick_and_a_hostile_name_is_inert(browser, large_page):
    assert large_page.stat().st_size < 6e6
    browser.open(large_page)
    assert browser.messages() == []
    (ready,) = browser.ask(
        "return performance.getEntriesByName('robustscn-interactive').map(m => m.startTime)"
    )
    assert ready < 10_000  # milliseconds; loose, because the machine may be busy
    target = browser.driver.find_element("id", "target")
    target.send_keys(EVIL)
    title = """return document.querySelector('[data-figure="fit"] .xtitle').textContent"""
    assert settled(browser, title, lambda found: found == f"predicted {EVIL}")
    assert "2026-01-28" in browser.ask("return document.body.innerText")
