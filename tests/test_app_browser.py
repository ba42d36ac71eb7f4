"""The local page as an engineer meets it: in a real Chromium, by mouse and by keyboard."""

from pathlib import Path

import pytest

from apps import LONG, SMALL, Visitor, app, as_csv, measurements, until
from test_report_browser import DARK, LIGHT, Browser

axe_core_python = pytest.importorskip("axe_core_python")
AXE = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")

pytestmark = pytest.mark.browser

EVIL = "<img src=x onerror=alert(1)>"
DROP = """
const [name, text] = arguments;
const carried = new DataTransfer();
carried.items.add(new File([text], name));
document.getElementById("drop").dispatchEvent(
  new DragEvent("drop", { dataTransfer: carried, bubbles: true, cancelable: true }));
"""


class Page(Browser):
    """The browser with the page in it."""

    def visit(self, address, width=1280, scheme=LIGHT):
        self.look_like(width, scheme)
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(address)
        ready = "document.readyState === 'complete' && document.getElementById('h-file') !== null"
        self.wait(f"return {ready}")

    def look_like(self, width=1280, scheme=LIGHT):
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})

    def element(self, name):
        return self.driver.find_element("id", name)

    def shown(self, name):
        return self.wait(f"return !document.getElementById('{name}').closest('[hidden]')", 120)

    def text(self, name):
        return self.ask(f"return document.getElementById('{name}').textContent")

    def click(self, element):
        """Click as a hand does, where the element is in sight."""
        self.ask("arguments[0].scrollIntoView({ block: 'center' })", element)
        element.click()

    def choose(self, settings):
        self.ask("document.querySelectorAll('#choice details')[1].open = true")
        for name in ("networks", "nodes", "rounds"):
            field = self.element(f"c-{name}")
            field.clear()
            field.send_keys(settings[name])

    def faults(self):
        """Return what keeps people from using the page, in light and dark, wide and narrow."""
        self.ask(AXE + "; window.axe = axe;")  # past the policy of the page, which is the point
        found = []
        for width, scheme in ((1280, LIGHT), (390, DARK)):
            self.look_like(width, scheme)
            answer = self.driver.execute_async_script(
                "const done = arguments[0]; axe.run({ exclude: ['iframe'] }, { iframes: false })"
                ".then((r) => done(r.violations.map((v) => [v.id, v.nodes.map((n) => n.html)])))"
            )
            found += answer
            if width == 390:
                assert self.ask("return document.documentElement.scrollWidth") <= 390
        self.look_like()
        return found


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.driver.quit()


@pytest.fixture
def served():
    with app() as running:
        yield running


def downloaded(page, folder, name):
    """Click a link and return what is in the file that comes."""
    link = page.driver.find_element("css selector", f"a[href='files/{name}']")
    before = set(folder.iterdir())
    page.click(link)
    new = until(lambda: [p for p in set(folder.iterdir()) - before if ".crdownload" not in p.name])
    return new[0]


def test_from_a_dropped_file_to_a_second_fit_and_downloads(page, served, tmp_path):
    frame = measurements().rename(columns={"flow": EVIL})
    page.visit(served.address)
    visitor = Visitor(served.address)
    page.driver.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)}
    )
    assert page.driver.current_url == served.address.split("?")[0]  # the key is out of sight
    assert page.faults() == []
    page.ask(DROP, "mill.csv", as_csv(frame).decode())
    page.shown("step-choose")
    assert page.ask("return document.activeElement.id") == "h-choose"
    assert page.element("c-target").get_attribute("value") == "size"
    assert page.text("guessed").startswith("A guess")
    assert page.faults() == []

    page.element("c-target").send_keys("flow")
    page.element("c-target").send_keys("size")
    # Longer than it takes to ask a few times how the fit goes on, on a busy machine too.
    page.choose({**SMALL, "networks": "8", "nodes": "60", "rounds": "12"})
    page.ask(
        "window.heard = []; new MutationObserver(() => heard.push(document.getElementById('said')"
        ".textContent)).observe(document.getElementById('said'), { childList: true })"
    )
    page.click(page.element("fit"))
    page.shown("step-fit")
    page.shown("review")
    heard = page.ask("return heard")
    assert any(words.startswith("Round ") for words in heard)
    assert (
        heard[-1] == f"Done: {len(frame) // 10} of 200 rows were flagged" or "flagged" in heard[-1]
    )
    assert page.ask("return document.activeElement.id") == "h-result"
    assert page.faults() == []

    of_all = page.driver.find_elements("css selector", "#episodes li:first-child button")
    assert [button.text for button in of_all] == ["All wrong", "All fine", "Unsure"]
    page.click(of_all[0])
    page.wait("return document.querySelectorAll('#rows input[value=wrong]:checked').length > 5")
    page.click(of_all[2])
    page.wait("return document.querySelectorAll('#rows input[value=wrong]:checked').length === 0")

    rows = page.driver.find_elements("css selector", "#rows tr")
    first, second = (int(row.find_element("css selector", "td").text) for row in rows[:2])
    page.click(rows[0].find_element("css selector", "label.wrong"))
    # The second by keyboard: from "unsure", on which it stands, one back.
    page.ask("arguments[0].focus()", rows[1].find_element("css selector", "input:checked"))
    page.driver.switch_to.active_element.send_keys("\ue012")
    assert page.driver.switch_to.active_element.get_attribute("value") == "fine"
    page.wait("return document.getElementById('count').textContent.startsWith('1 wrong, 1 fine')")
    page.click(page.element("refit"))
    page.wait("return document.getElementById('command').textContent.includes('--reviewed')", 120)
    page.wait("return document.activeElement.id === 'h-result'")
    lines = page.ask(
        "return [...document.querySelectorAll('#rows tr')].map(r => +r.children[0].textContent)"
    )
    assert lines
    assert not {first, second} & set(lines)

    for name in ("outliers.csv", "episodes.csv", "report.html", "model.skops", "reviewed"):
        found = downloaded(page, tmp_path, name)
        assert found.name == ("mill-reviewed.csv" if name == "reviewed" else name)
        until(lambda path=found, name=name: path.read_bytes() == visitor.file(name))
    page.driver.switch_to.frame("report")
    assert "rows were flagged" in page.ask("return document.querySelector('h1').textContent")
    page.wait("return document.querySelectorAll('.plot .main-svg').length > 6")
    page.driver.switch_to.default_content()
    assert page.messages() == []
    address = served.address.split("?")[0]
    asked = {url for document, url in page.requests() if document.startswith(address)}
    assert asked
    assert all(url.startswith((address, "data:", "blob:")) for url in asked)


def test_a_bad_file_is_an_alert_and_cancel_is_there(page, served):
    page.visit(served.address)
    page.ask(DROP, "bad.csv", "a,b\n1,2\n3\n")
    page.shown("fault")
    assert page.text("fault") == (
        "line 3 has 1 field, the header has 2: the file seems to be truncated"
    )
    assert page.element("fault").get_attribute("role") == "alert"
    assert page.faults() == []
    page.ask(DROP, "mill.csv", as_csv(measurements()).decode())
    page.shown("step-choose")
    assert page.ask("return document.getElementById('fault').hidden")
    page.choose(LONG)
    page.click(page.element("fit"))
    page.wait("return document.getElementById('stage').textContent.startsWith('Round')", 120)
    assert page.element("fit").get_attribute("disabled")
    # Who opens the page again sees the same.
    page.driver.refresh()
    page.wait("return document.getElementById('stage').textContent.startsWith('Round')")
    page.click(page.element("cancel"))
    page.wait("return document.getElementById('stage').textContent.startsWith('Cancelled')")
    assert Visitor(served.address).state()["result"] is None
    assert page.messages() == []


def test_a_state_that_was_overtaken_is_not_shown(page, served):
    page.visit(served.address)
    # The answer to one question is held back until the table that comes after it is there.
    page.ask(
        """
        const really = window.fetch;
        window.fetch = async (path, options) => {
          const answer = await really(path, options);
          if (path === "state" && !window.late) {
            window.late = true;
            await new Promise((go) => { window.go = go; });
          }
          return answer;
        };
        """
    )
    page.ask(DROP, "mill.csv", as_csv(measurements(40)).decode())
    page.wait("return Boolean(window.go)")  # it says that the table is being looked at
    page.ask(DROP, "bad.csv", "a,b\n1,2\n3\n")
    page.shown("fault")
    shown = page.driver.execute_async_script(
        """
        const [done, name, seen] = [arguments[0], document.getElementById("table-name"), []];
        new MutationObserver(() => seen.push(name.textContent)).observe(name, { childList: true });
        window.go();
        setTimeout(() => done([...seen, name.textContent]), 500);
        """
    )
    assert shown == ["bad.csv"]


def test_it_can_be_ended_from_the_page(page, served):
    page.visit(served.address)
    page.click(page.element("end"))
    page.driver.switch_to.alert.accept()
    page.wait("return document.querySelector('h1').textContent === 'Ended'")
    assert served.process.wait(60) == 0
    assert not served.folder.exists()
