"""Draws docs/static/report.png, the picture of the first page: two parts of the demo's report.

`make picture` calls it; it needs chromium, and Playwright of the extra test.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 1000, "height": 1010}
SHOWN = ("what-if",)  # below the headline; a report has many more parts


def main(report: Path, picture: Path) -> None:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    others = "".join(f":not(#{name})" for name in SHOWN)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE)
        page.goto(report.resolve().as_uri())
        page.add_style_tag(content=f"section{others} {{ display: none }}")
        page.wait_for_timeout(1000)  # the charts
        page.screenshot(path=picture)
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
