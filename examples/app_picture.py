"""Draw the local page after a fit as a browser shows it: the picture in the docs.

Needs Debian's chromium and chromium-driver, and selenium.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from robustscn.cli import main as robustscn

ANSWER = "return document.querySelectorAll('#rows tr')[arguments[0]].querySelector(arguments[1])"


def drawn(browser: webdriver.Chrome, address: str, picture: Path) -> None:
    """Walk through the page as a user does, mark some suspects, and keep what is in sight."""
    soon = WebDriverWait(browser, 300)
    browser.get(address)
    soon.until(lambda b: b.execute_script("return !document.getElementById('step-choose')?.hidden"))
    browser.find_element("id", "fit").click()
    soon.until(lambda b: b.find_elements("css selector", "#rows tr"))
    for row, word in enumerate(("wrong", "wrong", "unsure", "fine", "wrong")):
        browser.execute_script(ANSWER, row, f"label.{word}").click()
    browser.execute_script("document.getElementById('h-result').scrollIntoView()")
    time.sleep(1)  # until the page has settled
    browser.save_screenshot(str(picture))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1180,1500"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        if robustscn(["demo", folder, "--quiet"]) != 0:
            raise SystemExit("the demo failed")
        table = Path(folder) / "measurements.csv"
        command = [sys.executable, "-m", "robustscn.cli", "app", table, "--no-browser", "--json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
            try:
                assert server.stdout is not None
                drawn(browser, json.loads(server.stdout.readline())["address"], arguments.picture)
            finally:
                browser.quit()
                server.send_signal(signal.SIGINT)


if __name__ == "__main__":
    main()
