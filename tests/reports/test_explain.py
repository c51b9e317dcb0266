"""explain: everything of one attempt in order, in both languages, on any terminal; and finding task, attempt and report."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reports.sample import BIG_ID, sample_report
from tests.reports.test_html import _hostile_report

from agent_reach.cli.explain_command import command as explain
from agent_reach.cli.report_command import command as report_group
from agent_reach.errors import ReportError
from agent_reach.records.message import Language
from agent_reach.reports.explain import choose_attempt, explain_document, explain_lines, find_task
from agent_reach.reports.figures import display_width
from agent_reach.reports.json_report import write_report
from agent_reach.reports.locate import locate_report


def _lines(task_id: str, language: Language = "en", **options: int | bool) -> list[str]:
    task = find_task(sample_report(), task_id)
    attempt = choose_attempt(task, None)
    return explain_lines(task, attempt, language, **options)  # type: ignore[arg-type]


def _in_order(text: str, parts: list[str]) -> None:
    place = 0
    for part in parts:
        found = text.find(part, place)
        assert found >= 0, f"{part!r} is missing or out of order"
        place = found + len(part)


def test_a_task_is_told_in_order() -> None:
    _in_order(
        " ".join(" ".join(_lines("restock-001")).split()),
        [
            "restock-001 | must call | attempt 1 of 1 | failed, 1 of 2 decisions right",
            "request: 上海仓的 PDT-1001 补到 50 件",
            "12 offered, 1,840 tokens",
            "stock/adjust_inventory: description cut to 120 characters",
            "+ rag_doc_2 [retrieval/manual] used: 'WH-SH-01' -> c2/warehouse_id",
            "- rag_doc_5 [retrieval/faq] unused",
            "? res_c1",
            "x rag_doc_9 [retrieval] over the passage limit, never sent, 210 tokens",
            'state warehouse = "WH-SH-01" (query_stock.warehouse_id)',
            "1. model (812 ms): 先查询当前库存。",
            'call stock/query_stock {"product_id": "PDT-1001"}',
            "came back ok, 41 ms",
            "= golden step 1 (look) stock/query_stock",
            "raw: {",
            "x golden step 2 (set) stock/update_stock",
            "cause: Look-alike chosen [understanding, lies with model]",
            "fix: Say in the description",
            "also: Description cut",
            "outside the golden path: forbidden",
            "3. model",
            'c2/warehouse_id = "WH-SH-01" <- rag_doc_2, res_c1',
        ],
    )


def test_emitted_sent_and_changed_arguments_are_told_apart() -> None:
    _in_order(
        " ".join(" ".join(_lines("sales-001")).split()),
        [
            "hidden (not recalled)",
            "candidates: reports/sales_report 0.91",
            '"limit": "10"}',
            'sent {"start"',
            '"limit": 10}',
            'changed /limit: "10" -> 10 (number_from_text) <- schema',
            "/start wrong_format: expected YYYY-MM-DD",
            "came back failed, arguments refused, 12 ms: start: not a date",
            "~ golden step 1 (report)",
            "the date 2024-03-01 wrong",
            "cause: Wrong format [execution, lies with tool, proved]",
            "? c1/start",
            "unsourced",
        ],
    )


def test_golden_steps_nobody_called_are_listed() -> None:
    text = " ".join(" ".join(_lines("cancel-001", "zh")).split())
    _in_order(
        text,
        [
            "cancelOrderById（无此工具）",
            f"{BIG_ID}",
            "2. 用户: Please do it now.",
            "没有对应调用的标准步骤",
            "标准步骤 1 (cancel) orders/cancel_order",
            "原因：信息掉出上下文 [记忆, 责任在触达层]",
            "标准步骤 2 (refund)",
            "源自步骤 cancel",
        ],
    )


def test_attempts_without_trace_or_score_are_explained_too() -> None:
    assert "infrastructure error" in " ".join(_lines("infra-001"))
    assert "connection refused" in " ".join(_lines("infra-001"))
    assert "not evaluated: a task of kind must without a path" in " ".join(
        " ".join(_lines("nogold-001")).split()
    )
    task = find_task(sample_report(), "restock-001")
    bare = dataclasses.replace(task.attempts[0], trace=None)
    text = "\n".join(explain_lines(task, bare))
    assert "Golden steps without a call here" in text
    assert "stock/update_stock" in text


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_is_wider_than_asked(language: Language, width: int) -> None:
    for task in sample_report().tasks:
        for attempt in task.attempts or (None,):
            for full in (False, True):
                for line in explain_lines(task, attempt, language, width=width, full=full):
                    assert display_width(line) <= width


def test_long_texts_are_cut_unless_asked_for() -> None:
    assert "[... +" in "\n".join(_lines("cancel-001"))
    full = "\n".join(_lines("cancel-001", full=True))
    assert "[... +" not in full
    assert " ".join(full.split()).count("Small talk") == 40


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120))
def test_nothing_in_a_report_steers_the_terminal(text: str) -> None:
    task = _hostile_report(text).tasks[0]
    for line in explain_lines(task, task.attempts[0]):
        assert display_width(line) <= 80
        assert not any(ord(character) < 32 or 0x7F <= ord(character) < 0xA0 for character in line)


def test_attempts_are_counted_from_one_and_the_first_failed_is_shown() -> None:
    task = find_task(sample_report(), "sales-001")
    assert choose_attempt(task, None) == task.attempts[0]
    assert choose_attempt(task, 2) == task.attempts[1]
    swapped = dataclasses.replace(task, attempts=task.attempts[::-1])
    assert choose_attempt(swapped, None) == task.attempts[0]
    with pytest.raises(ReportError, match="no attempt 3"):
        choose_attempt(task, 3)


def test_an_unknown_task_names_the_nearest() -> None:
    with pytest.raises(ReportError) as caught:
        find_task(sample_report(), "restok-001")
    assert "did you mean 'restock-001'" in str(caught.value)


def test_the_document_holds_the_one_attempt() -> None:
    task = find_task(sample_report(), "sales-001")
    document = explain_document(task, task.attempts[1])
    assert document["task_id"] == "sales-001"
    assert [attempt["index"] for attempt in document["attempts"]] == [1]


def test_reports_are_found_by_path_folder_id_and_beginning(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    for run in ("20260101-aa", "20260102-bb", "20260102-cc"):
        (runs / run).mkdir(parents=True)
        (runs / run / "report.json").write_text("{}")
    (runs / "unfinished").mkdir()
    file = runs / "20260101-aa" / "report.json"
    assert locate_report(str(file), runs) == file
    assert locate_report(str(file.parent), runs) == file
    assert locate_report("20260101-aa", runs) == file
    assert locate_report("20260101", runs) == file
    with pytest.raises(ReportError, match="beginning of 2 runs"):
        locate_report("20260102", runs)
    with pytest.raises(ReportError, match="newest run here is '20260102-cc'"):
        locate_report("zzz", runs)
    with pytest.raises(ReportError, match="no run is named ''"):
        locate_report("", runs)
    with pytest.raises(ReportError, match="give the path"):
        locate_report("zzz", tmp_path / "none")


def test_the_commands_print_and_write(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(sample_report(), path)
    runner = CliRunner()
    shown = runner.invoke(explain, [str(path), "restock-001", "--lang", "zh"], catch_exceptions=False)
    assert "选了相似工具" in shown.output
    as_json = runner.invoke(
        explain, [str(path), "sales-001", "--attempt", "2", "--json"], catch_exceptions=False
    )
    assert json.loads(as_json.output)["attempts"][0]["index"] == 1
    page = tmp_path / "out" / "report.html"
    runner.invoke(
        report_group, ["render", str(path), "--output", str(page), "--lang", "zh"], catch_exceptions=False
    )
    assert '<html lang="zh-CN">' in page.read_text("utf-8")
    for form, beginning in (
        ("markdown", "<!-- agent-reach-report -->"),
        ("junit", "<?xml"),
        ("decision-log", '{"task_id":'),
        ("json", '{"schema_version":1,'),
    ):
        printed = runner.invoke(report_group, ["render", str(path), "--format", form], catch_exceptions=False)
        assert printed.output.startswith(beginning)
    summary = runner.invoke(report_group, ["summary", str(path), "--json"], catch_exceptions=False)
    document = json.loads(summary.output)
    assert "tasks" not in document
    assert "snapshot" not in document["catalog"]
    lines = runner.invoke(report_group, ["summary", str(path)], catch_exceptions=False)
    assert lines.output.startswith("The agent chose the right tool")


def test_an_unknown_form_lists_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(sample_report(), path)
    with pytest.raises(ReportError, match="one of: html, markdown"):
        CliRunner().invoke(report_group, ["render", str(path), "--format", "pdf"], catch_exceptions=False)


def test_bad_input_ends_with_code_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from agent_reach.cli.main import run_command_line

    assert run_command_line(["explain", str(tmp_path / "none.json"), "x"]) == 2
    assert run_command_line(["report", "render", str(tmp_path / "none.json")]) == 2
    write_report(sample_report(), tmp_path / "report.json")
    assert run_command_line(["explain", str(tmp_path / "report.json"), "nobody"]) == 2
    assert run_command_line(["explain", str(tmp_path / "report.json"), "sales-001", "--attempt", "9"]) == 2
    assert run_command_line(["explain", str(tmp_path / "report.json"), "sales-001"]) == 0
    assert "no task 'nobody'" in capsys.readouterr().err
