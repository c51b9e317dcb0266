"""The picture of a map inside the HTML report: what `map --format svg` writes is shown, anything else is refused."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import pytest
from tests.reports.sample import sample_report

from agent_reach.cli.main import run_command_line
from agent_reach.errors import InputError
from agent_reach.reports.html import MAX_MAP_BYTES, read_map_picture
from agent_reach.reports.json_report import write_report

TOOLS = {"tools": [{"name": f"weigh_{name}", "inputSchema": {"type": "object"}} for name in ("tea", "rice")]}


@pytest.fixture
def report(tmp_path: Path) -> Path:
    path = tmp_path / "report.json"
    write_report(sample_report(), path)
    return path


def test_a_map_that_was_drawn_is_shown_in_the_page(tmp_path: Path, report: Path) -> None:
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    drawn, page = tmp_path / "map.svg", tmp_path / "report.html"
    assert (
        run_command_line(["map", str(tmp_path / "tools.json"), "--format", "svg", "--output", str(drawn)])
        == 0
    )
    assert run_command_line(["report", "render", str(report), "--map", str(drawn), "-o", str(page)]) == 0
    text = page.read_text("utf-8")
    shown = re.search(r'<section id="map">.*?src="data:image/svg\+xml;base64,([^"]+)"', text, re.DOTALL)
    assert shown is not None
    assert base64.b64decode(shown[1]).decode() == drawn.read_text("utf-8")
    assert "weigh_rice" in drawn.read_text("utf-8")


def test_a_page_without_a_map_has_no_such_section(tmp_path: Path, report: Path) -> None:
    page = tmp_path / "report.html"
    assert run_command_line(["report", "render", str(report), "-o", str(page)]) == 0
    assert 'id="map"' not in page.read_text("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "<svg xmlns='http://www.w3.org/2000/svg'/>",
        '\ufeff<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"\n "http://x/svg11.dtd">\n<!-- a > b --><svg>',
    ],
)
def test_beginnings_of_pictures(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.svg"
    path.write_text(text, encoding="utf-8")
    assert read_map_picture(path) == text.lstrip("\ufeff")


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"nodes": []}',
        "<!doctype html><html><svg></svg></html>",
        "<!-- <svg> -->",
        " " * 1_000_000,
        "<!---->" * 100_000,
        "<svgs>",
    ],
    ids=["empty", "json", "page", "comment", "blanks", "comments", "other"],
)
def test_another_file_is_refused_with_the_command_that_draws_one(tmp_path: Path, text: str) -> None:
    path = tmp_path / "map.svg"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no SVG picture") as caught:
        read_map_picture(path)
    assert "map --format svg" in (caught.value.next_step or "")


def test_a_picture_that_is_too_large_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "map.svg"
    path.write_text("<svg>" + " " * MAX_MAP_BYTES, encoding="utf-8")
    with pytest.raises(InputError, match="larger than"):
        read_map_picture(path)


def test_wrong_uses_end_with_code_two_and_write_nothing(
    tmp_path: Path, report: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn, page = tmp_path / "map.svg", tmp_path / "out.md"
    start = ["report", "render", str(report), "-o", str(page), "--map"]
    assert run_command_line([*start, str(drawn)]) == 2
    assert "cannot read" in capsys.readouterr().err
    drawn.write_text("<svg></svg>", encoding="utf-8")
    assert run_command_line([*start, str(drawn), "--format", "markdown"]) == 2
    assert "only the html form shows a map" in capsys.readouterr().err
    assert run_command_line(["report", "render", str(report), "--map", str(drawn), "-o", str(drawn)]) == 2
    assert drawn.read_text("utf-8") == "<svg></svg>"
    assert not page.exists()
