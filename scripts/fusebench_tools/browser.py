"""Pictures of a page's figures, by headless Chromium: what a document that shows no HTML can take."""

from __future__ import annotations

import base64
import shutil
from pathlib import Path

from fusebench_tools.page import WIDE
from fusebench_tools.records import BadFile

# Paper's colours whatever the machine prefers; what only a page has is left out.
STYLE = "figcaption { display: none; } figure { margin: 0 !important; padding: 8px; }"


def start():  # noqa: ANN201 (Selenium is imported late)
    """Chromium with no window. Raises BadFile where it or Selenium is missing."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError:
        chromium = None
    if not chromium or not driver:
        raise BadFile("Chromium, its driver or Selenium is missing: scripts/setup --browser (they are the system's: try /usr/bin/python3)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # A container has no room for its sandbox, nor for much shared memory.
    for word in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{word}")
    return webdriver.Chrome(service=Service(driver), options=options)


def pictures(html: Path, folder: Path) -> list[Path]:
    """Each figure with its legend as FOLDER/ID.png, two pixels for each of the page's, light. Raises BadFile."""
    browser = start()
    try:
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                {"width": WIDE + 60, "height": 900, "deviceScaleFactor": 2, "mobile": False})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
        browser.get(html.resolve().as_uri())
        browser.execute_script("document.head.append(Object.assign(document.createElement('style'), {textContent: arguments[0]}))", STYLE)
        boxes = browser.execute_script("return [...document.querySelectorAll('figure')].map(f => { const b = f.getBoundingClientRect();"
                                       " return [f.id, b.x + scrollX, b.y + scrollY, b.width, b.height]; })")
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, x, y, width, height in boxes:
            shot = browser.execute_cdp_cmd("Page.captureScreenshot", {
                "captureBeyondViewport": True, "clip": {"x": x, "y": y, "width": width, "height": height, "scale": 1}})
            paths.append(folder / f"{name}.png")
            paths[-1].write_bytes(base64.b64decode(shot["data"]))
        return paths
    finally:
        browser.quit()
