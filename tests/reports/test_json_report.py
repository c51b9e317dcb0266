"""report.json: form, exactness, whole-or-not writing, and clear errors for what is not a report."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reports.sample import BIG_ID, sample_report

from agent_reach.errors import ReportError
from agent_reach.records.message import Message
from agent_reach.records.report import METRIC_NAMES, CatalogInfo, Report, RunInfo
from agent_reach.records.score import Metric, TaskScore
from agent_reach.reports.json_report import read_report, report_document, write_pieces, write_report

EMPTY = Report(
    run=RunInfo(id="r", time="t"),
    catalog=CatalogInfo(hash="sha256:0", tool_count=0),
    metrics={},
    headline=Message("Nothing.", "无。"),
)


def test_written_and_read_again_is_the_same_report(tmp_path: Path) -> None:
    report = sample_report()
    write_report(report, tmp_path / "report.json")
    again = read_report(tmp_path / "report.json")
    filled = {**{name: Metric(value=None) for name in METRIC_NAMES}, **report.metrics}
    assert again == dataclasses.replace(report, metrics=filled)
    assert read_report(report_document(report)) == again


def test_a_second_writing_changes_no_byte(tmp_path: Path) -> None:
    first, second = tmp_path / "a.json", tmp_path / "b.json"
    write_report(sample_report(), first)
    write_report(read_report(first), second)
    assert first.read_bytes() == second.read_bytes()


def test_every_metric_has_its_four_keys_everywhere() -> None:
    document = report_document(sample_report())
    assert set(METRIC_NAMES) <= set(document["metrics"])
    metrics = [*document["metrics"].values(), *document["blocks"].values()]
    metrics += [metric for group in document["groups"] for metric in group["metrics"].values()]
    for metric in metrics:
        assert {"value", "numerator", "denominator", "interval"} <= set(metric)
    assert document["metrics"]["task_pass"]["value"] is None


def test_an_empty_report_still_says_what_readers_look_for() -> None:
    document = report_document(EMPTY)
    assert document["schema_version"] == 1
    assert document["causes"] == document["tools"] == document["confusions"] == document["tasks"] == []
    assert all(metric["value"] is None for metric in document["metrics"].values())
    assert read_report(document).metrics.keys() == set(METRIC_NAMES)


def test_each_decision_has_the_fields_of_the_decision_log() -> None:
    document = report_document(sample_report())
    decisions = [
        decision
        for task in document["tasks"]
        for attempt in task["attempts"]
        for decision in attempt["decisions"]
    ]
    assert len(decisions) == 7
    for decision in decisions:
        assert {
            "task_id",
            "step",
            "model_raw",
            "selected_tool",
            "expected_tool",
            "arguments",
            "expected_arguments",
            "error",
            "context_blocks",
            "used_blocks",
            "verdict",
        } <= set(decision)


def test_whole_numbers_keep_every_digit(tmp_path: Path) -> None:
    write_report(sample_report(), tmp_path / "report.json")
    assert str(BIG_ID) in (tmp_path / "report.json").read_text("utf-8")
    decision = read_report(tmp_path / "report.json").tasks[2].attempts[0].decisions[0]
    assert decision.expected_arguments == {"order_id": BIG_ID}


def test_odd_values_cost_nothing_else(tmp_path: Path) -> None:
    task = TaskScore(task_id="odd", kind="must", query="lone \udc80 surrogate \u2028 and \x00 zero")
    attempt = sample_report().tasks[1].attempts[0]
    decision = dataclasses.replace(
        attempt.decisions[0], arguments={"x": float("nan"), "y": [float("-inf")], "z": {1, 2}}
    )
    odd = dataclasses.replace(task, attempts=(dataclasses.replace(attempt, decisions=(decision,)),))
    report = dataclasses.replace(EMPTY, tasks=(odd, *sample_report().tasks))
    write_report(report, tmp_path / "report.json")
    again = read_report(tmp_path / "report.json")
    assert again.tasks[0].query == task.query
    assert again.tasks[0].attempts[0].decisions[0].arguments == {"x": "NaN", "y": ["-Infinity"], "z": [1, 2]}
    assert again.tasks[1:] == sample_report().tasks


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=12,
    ),
    st.text(alphabet=st.characters()),
)
def test_any_argument_and_text_comes_back(value: object, text: str) -> None:
    decision = dataclasses.replace(
        sample_report().tasks[0].attempts[0].decisions[1], arguments={text: value}, model_raw=text
    )
    attempt = dataclasses.replace(sample_report().tasks[0].attempts[0], decisions=(decision,))
    report = dataclasses.replace(EMPTY, tasks=(TaskScore(task_id=text, kind="must", attempts=(attempt,)),))
    again = read_report(report_document(report)).tasks[0]
    assert again.task_id == text
    assert again.attempts[0].decisions[0].arguments == {text: value}
    assert again.attempts[0].decisions[0].model_raw == text


def test_one_task_per_line(tmp_path: Path) -> None:
    write_report(sample_report(), tmp_path / "report.json")
    lines = (tmp_path / "report.json").read_text("utf-8").split("\n")
    rows = [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"task_id"')]
    assert [row["task_id"] for row in rows] == [task.task_id for task in sample_report().tasks]


def test_a_failure_half_way_leaves_the_old_file_and_no_rubbish(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")

    def pieces() -> Iterator[str]:
        yield "{"
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_pieces(pieces(), path)
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.json"]


def test_a_place_that_cannot_be_written_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ReportError, match="cannot write"):
        write_report(EMPTY, tmp_path / "file" / "report.json")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ReportError, match="cannot write"):
        write_report(EMPTY, tmp_path / "folder")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is not JSON"),
        ("{", "is not JSON"),
        ("[]", "expected an object, found list"),
        ("3", "expected an object, found int"),
        ('{"tools": []}', "no schema_version; its fields are tools"),
        ('{"schema_version": 1, "run": {}}', "no metrics"),
        ('{"schema_version": 99, "metrics": {}}', "schema_version 99 is newer"),
        ('{"schema_version": true, "metrics": {}}', "schema_version True"),
        ('{"schema_version": "1", "metrics": {}}', "schema_version '1'"),
        ('{"schema_version": 1, "metrics": NaN}', "NaN is no JSON number"),
        ('{"schema_version": 1, "metrics": {}}', "'run' is missing"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_no_report_says_why(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "report.json"
    path.write_text(text)
    with pytest.raises(ReportError) as caught:
        read_report(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_wrong_field_is_named_with_its_path(tmp_path: Path) -> None:
    document = report_document(sample_report())
    document["tasks"][0]["attempts"][0]["decisions"][1]["step"] = "second"
    with pytest.raises(ReportError) as caught:
        read_report(document)
    assert "report.tasks[0].attempts[0].decisions[1].step" in str(caught.value)
    assert "'second'" in str(caught.value)


def test_missing_and_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such report"):
        read_report(tmp_path / "none.json")
    with pytest.raises(ReportError, match="cannot read"):
        read_report(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ReportError, match="is not UTF-8 text"):
        read_report(tmp_path / "binary.json")


def test_a_byte_order_mark_and_unknown_fields_do_no_harm(tmp_path: Path) -> None:
    document = report_document(EMPTY)
    document["added_later"] = {"x": 1}
    (tmp_path / "report.json").write_text("\ufeff" + json.dumps(document), encoding="utf-8")
    assert read_report(tmp_path / "report.json").run.id == "r"


def test_reading_leaves_the_garbage_collector_as_it_was(tmp_path: Path) -> None:
    import gc

    write_report(EMPTY, tmp_path / "report.json")
    assert gc.isenabled()
    read_report(tmp_path / "report.json")
    assert gc.isenabled()
    with pytest.raises(ReportError):
        read_report(tmp_path / "none.json")
    assert gc.isenabled()
    gc.disable()
    try:
        read_report(tmp_path / "report.json")
        assert not gc.isenabled()
    finally:
        gc.enable()
