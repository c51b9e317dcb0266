"""The HTML page in a real browser: its script runs, sorts, filters and pages, and nothing overflows on a phone."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.reports.sample import sample_report
from tests.reports.test_html import HOSTILE, _hostile_report

from agent_reach.records.message import Language
from agent_reach.reports.html import render_html

pytestmark = pytest.mark.live

CHECK = """
window.onerror = function (message) { document.body.setAttribute("data-error", message); };
function fire(node, name) { node.dispatchEvent(new Event(name, { bubbles: true })); }
function texts(selector) {
  return Array.prototype.filter.call(document.querySelectorAll(selector), function (node) { return !node.closest("[hidden]"); })
    .map(function (node) { return node.textContent; });
}
window.addEventListener("load", function () {
  var found = { ready: document.documentElement.getAttribute("data-ready") };
  found.lost = texts(".lost").length;
  var heads = document.querySelectorAll("#tool-table thead button");
  heads[8].click();
  found.heaviest = texts("#tool-table tbody th")[0];
  heads[0].click();
  found.first = texts("#tool-table tbody th")[0];
  heads[1].click();
  found.sorted = texts("#tool-table tbody td:nth-child(2)");
  document.querySelectorAll("button.go")[1].click();
  found.byCause = texts(".lost .where");
  document.querySelectorAll(".lost details").forEach(function (box) { box.open = true; });
  document.getElementById("tool-filter").value = "orders/";
  fire(document.getElementById("tool-filter"), "input");
  document.getElementById("theme").click();
  found.theme = document.documentElement.dataset.theme;
  setTimeout(function () {
    found.marks = texts(".lost mark");
    found.filtered = texts("#tool-table tbody th");
    found.tasks = texts("#task-table tbody tr").length;
    found.wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    found.bold = document.querySelectorAll("b img, p svg, .lost script").length;
    document.body.setAttribute("data-found", JSON.stringify(found));
  }, 400);
});
"""


def _browser() -> str:
    found = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
    if found is None:
        pytest.skip("no Chromium is installed: the page was not opened in a browser")
    return found


def _dump(page: str, folder: Path) -> str:
    (folder / "page.html").write_text(page, encoding="utf-8")
    command = [
        _browser(),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={folder / 'profile'}",
        "--virtual-time-budget=3000",
        "--dump-dom",
        f"file://{folder / 'page.html'}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _checked(page: str) -> str:
    """The page with the check beside its own script; the policy would stop a second script, so it goes."""
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    return page.replace("</head>", f"<script>{CHECK}</script></head>")


def _found(dom: str) -> dict[str, object]:
    failed = re.search(r'<body[^>]*data-error="([^"]*)"', dom)
    assert failed is None, failed.group(1) if failed is not None else ""
    match = re.search(r'<body[^>]*data-found="([^"]*)"', dom)
    assert match is not None
    found: dict[str, object] = json.loads(html.unescape(match.group(1)))
    return found


@pytest.mark.parametrize("language", ["en", "zh"])
def test_sorting_filtering_and_paging_work(tmp_path: Path, language: Language) -> None:
    found = _found(_dump(_checked(render_html(sample_report(), language)), tmp_path))
    assert found["ready"] == "yes"
    assert found["lost"] == 6
    assert found["heaviest"] == "reports/sales_report"
    assert found["first"] == "crm/find_customer"
    reached = [str(text).split()[0] for text in found["sorted"]]  # type: ignore[attr-defined]
    assert reached == ["100%"] * 3 + ["0%"] * 3 + ["-"] * 6
    assert len(found["byCause"]) == 1  # type: ignore[arg-type]
    assert "sales-001" in str(found["byCause"])
    assert found["marks"] == ["north"]
    # Filtered while sorted by the share that was reached: what was never required comes last.
    assert found["filtered"] == [
        "orders/create_order",
        "orders/cancel_order",
        "orders/get_order",
        "orders/refund_order",
    ]
    assert found["tasks"] == 8
    assert found["theme"] in ("light", "dark")


def test_the_policy_lets_the_page_itself_run(tmp_path: Path) -> None:
    dom = _dump(render_html(sample_report(), "en"), tmp_path)
    assert 'data-ready="yes"' in dom
    assert dom.count('<article class="lost">') == 6


def test_nothing_overflows_on_a_phone(tmp_path: Path) -> None:
    page = _checked(render_html(sample_report(), "zh")).replace("&", "&amp;").replace('"', "&quot;")
    outer = (
        f'<!DOCTYPE html><body><iframe id="phone" width="390" height="844" srcdoc="{page}"></iframe>'
        "<script>var tries = 0; var wait = setInterval(function () {"
        "var body = document.getElementById('phone').contentDocument.body;"
        "var found = body && body.getAttribute('data-found');"
        "if (found) { clearInterval(wait); document.body.setAttribute('data-found', found); }"
        "}, 50);</script></body>"
    )
    found = _found(_dump(outer, tmp_path))
    assert found["wide"] == 0


@pytest.mark.parametrize("text", [HOSTILE[0], HOSTILE[2], HOSTILE[3]])
def test_hostile_text_runs_nothing(tmp_path: Path, text: str) -> None:
    page = render_html(_hostile_report(text.replace("alert(1)", "document.title='owned'")), "en")
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    dom = _dump(page, tmp_path)
    assert 'data-ready="yes"' in dom
    assert "<title>owned" not in dom
