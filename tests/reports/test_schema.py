"""The shipped JSON Schemas: made from the records, and obeyed by what is written."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from tests.reports.sample import sample_report

from agent_reach.records.message import Message
from agent_reach.records.report import CatalogInfo, Report, RunInfo
from agent_reach.reports.json_form import json_text
from agent_reach.reports.json_report import report_document
from agent_reach.reports.schema import SCHEMAS, schema_document, shipped_schema


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_shipped_schema_is_the_one_the_records_make(name: str) -> None:
    assert shipped_schema(name) == schema_document(name)
    jsonschema_rs.validator_for(shipped_schema(name))


def test_reports_obey_their_schema() -> None:
    validator = jsonschema_rs.validator_for(shipped_schema("report"))
    empty = Report(
        run=RunInfo(id="r", time="t"),
        catalog=CatalogInfo(hash="sha256:0", tool_count=0),
        metrics={},
        headline=Message("a", "b"),
    )
    for report in (sample_report(), empty):
        assert [error.message for error in validator.iter_errors(report_document(report))] == []


def test_traces_obey_their_schema() -> None:
    validator = jsonschema_rs.validator_for(shipped_schema("trace"))
    traces = [
        attempt.trace
        for task in sample_report().tasks
        for attempt in task.attempts
        if attempt.trace is not None
    ]
    assert len(traces) == 6
    for trace in traces:
        assert [error.message for error in validator.iter_errors(json.loads(json_text(trace)))] == []


def test_snapshots_obey_their_schema() -> None:
    from agent_reach.catalog.catalog import Catalog
    from agent_reach.catalog.snapshot import SNAPSHOT_VERSION, snapshot_document
    from agent_reach.reports import schema

    assert schema.SNAPSHOT_VERSION == SNAPSHOT_VERSION
    catalog = Catalog.load(
        [
            {
                "name": "query_stock",
                "description": "库存查询",
                "inputSchema": {"type": "object", "properties": {"product_id": {"type": "string"}}},
                "annotations": {"readOnlyHint": True},
            },
            {"name": "repaired", "parameters": {"type": "object", "properties": {"n": {"type": "int"}}}},
            {"name": "broken", "inputSchema": {"type": "string"}},
        ]
    )
    assert catalog.quarantined
    validator = jsonschema_rs.validator_for(shipped_schema("snapshot"))
    document = snapshot_document(catalog)
    assert [error.message for error in validator.iter_errors(document)] == []
    assert not validator.is_valid({**document, "snapshot_version": 2})
    assert not validator.is_valid({**document, "hash": "md5:1"})


def _without(document: dict[str, Any], *path: Any) -> dict[str, Any]:
    place: Any = document
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return document


@pytest.mark.parametrize(
    "path",
    [
        ("run",),
        ("schema_version",),
        ("metrics", "tool_reachability"),
        ("metrics", "tool_reachability", "interval"),
        ("tasks", 0, "attempts", 0, "decisions", 0, "expected_tool"),
        ("tasks", 0, "attempts", 0, "decisions", 0, "used_blocks"),
    ],
)
def test_what_readers_rely_on_is_required(path: tuple[Any, ...]) -> None:
    validator = jsonschema_rs.validator_for(shipped_schema("report"))
    assert not validator.is_valid(_without(report_document(sample_report()), *path))


def test_later_fields_are_allowed_and_wrong_ones_are_not() -> None:
    validator = jsonschema_rs.validator_for(shipped_schema("report"))
    document = report_document(sample_report())
    document["run"]["later"] = 1
    assert validator.is_valid(document)
    document["tasks"][0]["attempts"][0]["decisions"][0]["verdict"] = "perfect"
    assert not validator.is_valid(document)


def test_every_fixed_word_of_the_records_has_words_in_both_languages() -> None:
    from agent_reach.records.context import BLOCK_KINDS
    from agent_reach.records.report import METRIC_NAMES
    from agent_reach.records.trace import ERROR_KINDS
    from agent_reach.reports import wording

    assert set(BLOCK_KINDS) == set(wording.BLOCK_KINDS)
    assert set(METRIC_NAMES) == set(wording.METRICS) == set(wording.METRIC_MEANINGS)
    assert set(ERROR_KINDS) == set(wording.ERROR_KINDS)
    enums = {
        "verdict": (schema_document("report")["$defs"]["Decision"], wording.VERDICTS),
        "layer": (schema_document("report")["$defs"]["Cause"], wording.LAYERS),
        "state": (schema_document("report")["$defs"]["AttemptScore"], wording.ATTEMPT_STATES),
        "kind": (schema_document("report")["$defs"]["ExtraCall"], wording.EXTRA_KINDS),
        "reason": (schema_document("report")["$defs"]["DroppedBlock"], wording.DROP_REASONS),
        "status": (schema_document("report")["$defs"]["CallOutcome"], wording.STATUSES),
    }
    for field, (definition, words) in enums.items():
        assert set(definition["properties"][field]["enum"]) == set(words), field
    assert set(schema_document("report")["$defs"]["ArgumentScore"]["properties"]["verdict"]["enum"]) == set(
        wording.ARGUMENT_VERDICTS
    )
    assert set(schema_document("report")["$defs"]["BlockUse"]["properties"]["state"]["enum"]) == set(
        wording.BLOCK_STATES
    )


def test_every_reason_of_an_empty_metric_is_spoken_in_both_languages() -> None:
    from agent_reach.evals.figures import _EMPTY_REASONS
    from agent_reach.reports.wording import METRIC_REASONS

    assert set(_EMPTY_REASONS.values()) <= set(METRIC_REASONS)
