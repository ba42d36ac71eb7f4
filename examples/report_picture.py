"""Draw the report of the demo as a browser shows it: the picture in the docs.

Needs Debian's chromium and chromium-driver, and selenium.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from robustscn.cli import main as robustscn


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture", type=Path)
    arguments = parser.parse_args()
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1180,1700"):
        options.add_argument(flag)
    with tempfile.TemporaryDirectory() as folder:
        if robustscn(["demo", folder, "--quiet"]) != 0:
            raise SystemExit("the demo failed")
        browser = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
        try:
            browser.get((Path(folder) / "report.html").as_uri())
            time.sleep(4)  # until the figures are drawn
            browser.save_screenshot(str(arguments.picture))
        finally:
            browser.quit()


if __name__ == "__main__":
    main()
