"""The report pages in a real browser, Debian's headless Chromium.

SPARKFORGE_SCREENSHOTS=docs rewrites the pictures in docs/ from reports of fictitious hosts.
"""

import os
import re
import shutil
import struct
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.sparkforge.dgx_spark.plugins.action.fleet_report import write_fleet
from ansible_collections.sparkforge.dgx_spark.plugins.action.verify_report import write_report
from ansible_collections.sparkforge.dgx_spark.plugins.plugin_utils.fleet.report import fleet as _fleet
from playwright import sync_api as playwright

from lab.host import LabError, run as run_command
from tests import example_reports as examples

CHECKOUT = Path(__file__).parents[2]
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
#: Playwright adds --headless and a new, empty --user-data-dir.
ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 780}
PICTURES = {"report.png": DESKTOP, "report-phone.png": PHONE}
LARGEST_PICTURE = 300_000

#: A script that returns all visible texts, each with its colour and its background colour.
VISIBLE_TEXTS = """() => {
  const seen = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const style = getComputedStyle(element);
    const box = element.getBoundingClientRect();
    if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest('.spoken, dt') && box.width <= 1) continue;
    let behind = element;
    const clear = (other) => getComputedStyle(other).backgroundColor === 'rgba(0, 0, 0, 0)';
    while (clear(behind) && behind.parentElement) behind = behind.parentElement;
    const range = document.createRange();
    range.selectNode(walker.currentNode);
    seen.push({text: walker.currentNode.data.trim(), ink: style.color, paper: getComputedStyle(behind).backgroundColor,
               right: range.getBoundingClientRect().right, scrolls: Boolean(element.closest('.scroll'))});
  }
  return seen;
}"""


def find_browser() -> str | None:
    return next((path for path in map(shutil.which, NAMES) if path), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[playwright.Browser]:
    path = find_browser()
    if path is None and os.geteuid() == 0 and shutil.which("apt-get"):
        apt = ("apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600")
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        try:
            run_command(*apt, "update", env=environment)
            run_command(*apt, "install", "--no-install-recommends", "chromium", env=environment)
        except LabError as error:
            pytest.skip(f"Chromium cannot be installed: {' '.join(str(error).split())[-300:]}")
        path = find_browser()
    if path is None:
        pytest.skip("there is no Chromium: install Debian's package chromium, or run the tests as root")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


class Opened(t.NamedTuple):
    """A page with its requests, errors, warnings and dialogs."""

    page: playwright.Page
    requests: list[str]
    complaints: list[str]


@pytest.fixture
def look(browser: playwright.Browser) -> Iterator[t.Callable[..., Opened]]:
    """Return a function that opens a file in a new browser profile."""
    contexts: list[playwright.BrowserContext] = []

    def open_file(path: Path, **options: t.Any) -> Opened:
        context = browser.new_context(**{"viewport": DESKTOP, "color_scheme": "light", **options})
        contexts.append(context)
        page = context.new_page()
        opened = Opened(page, [], [])
        page.on("request", lambda request: opened.requests.append(request.url))
        page.on("console", lambda message: opened.complaints.append(message.text))
        page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (opened.complaints.append("a dialog"), dialog.dismiss()))
        page.goto(path.as_uri())
        return opened

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a small fleet's reports."""
    directory = tmp_path_factory.mktemp("reports")
    hosts = [examples.broken("example-spark02"), examples.unproven("example-spark03")]
    hosts += [examples.healthy(f"example-spark0{number}") for number in (1, 5)]
    hosts.append(examples.healthy("example-h200", profile="generic"))
    for report in hosts:
        write_report(str(directory), report["host"], report, False)
    write_report(str(directory / "hostile"), "hostile", examples.hostile(), False)
    save_fleet(directory, [*(report["host"] for report in hosts), "example-spark04"])
    return directory


def save_fleet(directory: Path, hosts: list[str]) -> None:
    fleet = _fleet.merge(str(directory), hosts)
    fleet["written"] = "2026-11-21T16:20:00Z"
    for row in fleet["hosts"]:
        # The picture in docs/ must not reveal its author's path.
        row["cause"] = row["cause"].replace(str(directory), "/home/me/sparks/reports")
        if row["report"]:
            row["report"]["written"] = "2026-11-21T16:01:14Z"
    write_fleet(str(directory), fleet)


PAGES = ("index", "example-spark01", "example-spark02", "example-spark03", "hostile/hostile")
each_page = pytest.mark.parametrize("name", PAGES)


@each_page
def test_page_without_requests_and_complaints(look: t.Any, reports: Path, name: str) -> None:
    path = reports / f"{name}.html"
    opened = look(path)
    assert [url for url in opened.requests if not url.startswith("data:")] == [path.as_uri()]
    assert opened.complaints == []


def test_attack_in_report_does_not_run(look: t.Any, reports: Path) -> None:
    page, requests, complaints = look(reports / "hostile/hostile.html")
    for cell in page.locator(".cell").all():
        cell.click()
        assert examples.HOSTILE[:60] in page.locator("#panel").inner_text()
        page.keyboard.press("Escape")
    page.mouse.move(300, 300)
    assert "owned" not in page.title().split("<script>")[0]
    assert page.locator("img").count() == 0 and page.locator("script").count() == 1
    assert complaints == [] and len([url for url in requests if url.startswith("http")]) == 0


@each_page
def test_contrast_of_texts(look: t.Any, reports: Path, name: str) -> None:
    page = look(reports / f"{name}.html").page
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        texts = page.evaluate(VISIBLE_TEXTS)
        assert len(texts) > 40
        assert [row for row in texts if contrast(row["ink"], row["paper"]) < 4.5] == [], scheme


def contrast(first: str, second: str) -> float:
    """Return the contrast between two colours, as defined in the Web Content Accessibility Guidelines."""
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    parts = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_statuses_differ_in_sign_shape_and_lightness(look: t.Any, reports: Path, scheme: str) -> None:
    page = look(reports / "example-spark02.html", color_scheme=scheme).page
    looks = {}
    for status in ("pass", "fail", "skip"):
        looks[status] = page.locator(f".cell.{status}").first.evaluate(
            "(cell) => { const style = getComputedStyle(cell);"
            " return {sign: cell.querySelector('use').getAttribute('href'), paper: style.backgroundColor,"
            " border: style.borderTopStyle, corner: style.borderTopLeftRadius}; }"
        )
    assert len({look["sign"] for look in looks.values()}) == 3
    assert looks["skip"]["border"] == "dashed" and looks["pass"]["border"] == "none"
    assert looks["pass"]["corner"] != looks["fail"]["corner"]
    # The statuses can also be told apart without colours.
    assert contrast(looks["pass"]["paper"], looks["fail"]["paper"]) > 2.5


@each_page
def test_page_fits_a_phone(look: t.Any, reports: Path, name: str) -> None:
    page = look(reports / f"{name}.html").page
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    for width in (320, 360, 768):
        page.set_viewport_size({"width": width, "height": 780})
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert [
            row for row in page.evaluate(VISIBLE_TEXTS) if not row["scrolls"] and row["right"] > width + 0.5
        ] == [], width


def test_square_shows_its_check(look: t.Any, reports: Path) -> None:
    page = look(reports / "index.html").page
    panel = page.locator("#panel")
    cell = page.locator(".cell[aria-label='example-spark02, attention.efficient_float32: failed']")
    cell.hover()
    text = panel.inner_text()
    for part in ("example-spark02", "27.4 times the bound", "the error of rounding", "TORCH_CUDA_ARCH_LIST=12.0", "0."):
        assert part in text
    page.mouse.move(5, 5)
    playwright.expect(panel).to_be_hidden()
    cell.click()
    page.mouse.move(5, 5)
    playwright.expect(panel).to_be_visible()
    page.get_by_role("button", name="Close").click()
    playwright.expect(panel).to_be_hidden()
    cell.click()
    page.get_by_role("link", name="Show it in the list").click()
    assert page.locator(":target .cause").inner_text().startswith("Memory-efficient attention in float32")
    page.locator(".cell[aria-label='example-spark02, attention.flash_attn_package: skipped']").hover()
    assert "flash-attn is not installed" in panel.inner_text()


def test_keyboard_reaches_squares_from_one_tab_stop(look: t.Any, reports: Path) -> None:
    page = look(reports / "example-spark02.html").page
    panel = page.locator("#panel")
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('.cell')"):
            break
    label = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(label) == "example-spark02, gpu: passed"
    assert "NVIDIA GB10" in panel.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(label) == "example-spark02, compute_capability: passed"
    page.keyboard.press("ArrowDown")
    assert "toolchain." in page.evaluate(label)
    page.keyboard.press("Enter")
    playwright.expect(panel.get_by_role("button")).to_be_visible()
    page.keyboard.press("Escape")
    playwright.expect(panel).to_be_hidden()
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.cell')")


@pytest.mark.parametrize("script", [True, False])
def test_filter_and_families_with_and_without_script(look: t.Any, reports: Path, script: bool) -> None:
    page = look(reports / "index.html", java_script_enabled=script).page
    rows = page.locator(".check-row:visible")
    # Failed checks are visible; families without failures are collapsed.
    assert page.locator(".check-row .cell.fail:visible").count() == 5
    assert (
        page.locator(".check-row", has_text="storage.gds").count()
        == page.locator("text=toolchain.ptxas >> visible=true").count()
    )
    before = rows.count()
    page.get_by_label("Show each check of toolchain").check(force=True)
    assert rows.count() == before + 2
    page.locator(".toggle.pass").click()
    page.locator(".toggle.skip").click()
    assert rows.count() == 5 and page.locator(".cell.pass:visible").count() == 0
    page.locator(".toggle.fail").click()
    assert rows.count() == 0
    page.locator(".toggle.pass").click()
    assert page.locator(".cell.fail:visible").count() == 0 and page.locator(".cell.pass:visible").count() > 0


def test_square_links_to_its_check_without_script(look: t.Any, reports: Path) -> None:
    page = look(reports / "index.html", java_script_enabled=False).page
    cell = page.locator(".cell[aria-label='example-spark01, attention.math_float32: passed']")
    target = page.locator(cell.get_attribute("href"))
    playwright.expect(target).to_be_hidden()
    cell.click()
    playwright.expect(target).to_be_visible()
    assert "attention.math_float32" in target.inner_text() and "the error of rounding" in target.inner_text()


@pytest.mark.parametrize("name", PICTURES)
def test_picture_in_documentation(look: t.Any, reports: Path, tmp_path: Path, name: str) -> None:
    stored = CHECKOUT / "docs" / name
    page = look(reports / "index.html", viewport=PICTURES[name]).page
    if PICTURES[name] is PHONE:
        page = look(reports / "example-spark02.html", viewport=PHONE, device_scale_factor=1.5).page
    assert "example-spark02" in page.locator("main").inner_text()
    page.set_viewport_size({"width": PICTURES[name]["width"], "height": 1510 if PICTURES[name] is DESKTOP else 1000})
    if PICTURES[name] is DESKTOP:
        page.get_by_label("Show each check of matmul").uncheck(force=True)
        page.locator(".cell[aria-label='example-spark02, attention.efficient_float32: failed']").hover()
    screenshot = tmp_path / name
    page.screenshot(path=screenshot)
    if os.environ.get("SPARKFORGE_SCREENSHOTS") == "docs":
        shutil.copyfile(screenshot, stored)
    sizes = [struct.unpack(">II", path.read_bytes()[16:24]) for path in (screenshot, stored)]
    assert sizes[0] == sizes[1], f"docs/{name} has another size: SPARKFORGE_SCREENSHOTS=docs pytest {__file__}"
    assert stored.stat().st_size < LARGEST_PICTURE
