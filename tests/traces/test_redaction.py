"""A project's own redaction rules reach every writer: no byte on disk holds what they name."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.gateway.launching import call, entry, run, servers

from agent_reach.config.project import load_project
from agent_reach.records.context import ContextBlock, StateSlot
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.records.trace import (
    ArgumentChange,
    ArgumentProblem,
    Call,
    CallOutcome,
    CandidateScore,
    Exposure,
    Step,
    Trace,
)
from agent_reach.traces.importers.read import import_traces
from agent_reach.traces.receiver import TelemetryReceiver
from agent_reach.traces.recorder import Recorder
from agent_reach.traces.store.base import TraceFilter, TraceStore

SECRETS = ("E-4711-BADGE", "CUS-99887766", "Mrs-Private-Note-1")
BADGE, CUSTOMER, NOTE = SECRETS
RULES = """
store: traces.db
redaction:
  keys: [badge_no]
  patterns: ["CUS-[0-9]+"]
  fields: {"*.arguments.note": remove, "*.result.note": mask, "echo.arguments.text": mask}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "mcp.json").write_text(json.dumps(servers(one=entry())))
    (folder / "reach.yaml").write_text("catalog: mcp.json\n" + RULES)
    return folder


def told(folder: Path) -> list[tuple[str, str]]:
    """The files of a folder, with the secrets that one of their bytes holds; what was written by hand does not count."""
    found = []
    for file in folder.rglob("*"):
        if file.is_file() and file.name not in ("reach.yaml", "input.jsonl"):
            content = file.read_bytes()
            found += [(file.name, secret) for secret in SECRETS if secret.encode() in content]
            escaped = [json.dumps(secret).encode() for secret in SECRETS]
            found += [(file.name, "escaped") for secret in escaped if secret in content]
    return found


def everywhere() -> Trace:
    """A trace that holds each secret in every field that takes text or JSON."""
    value = {"badge_no": BADGE, "note": NOTE, "list": [{"badgeNo": BADGE}], "customer": CUSTOMER}
    text = f"{json.dumps(value)} and {CUSTOMER}; badge no: {BADGE}"
    change = ArgumentChange(
        rule="trim", pointer="/badge_no", before=BADGE, after=BADGE, text=f"badge_no: {BADGE}"
    )
    noted = ArgumentChange(rule="trim", pointer="/items/0/note", before=f"{NOTE} ", after=NOTE)
    problem = ArgumentProblem(
        code="wrong_type", pointer="/badge_no", message=f"{BADGE} is no number", actual=BADGE
    )
    outcome = CallOutcome(
        status="failed",
        error_kind="tool_error",
        value=value,
        text=json.dumps(value),
        message=f"no customer {CUSTOMER}",
        findings=(
            Finding(
                code="odd", severity="info", subject=CUSTOMER, message=Message(CUSTOMER, CUSTOMER), data=value
            ),
        ),
        metadata={"raw": json.dumps(value)},
    )
    one = Call(
        call_id="c1",
        name="crm/get",
        tool="crm/get",
        arguments={**value, "answer": f"it is {NOTE}"},
        raw_arguments=json.dumps(value),
        sent_arguments=value,
        changes=(change, noted),
        problems=(problem,),
        outcome=outcome,
        metadata=value,
    )
    other = replace(one, call_id=CUSTOMER, name=f"lookup {CUSTOMER}", tool=None)
    step = Step(
        index=0,
        text=f"the badge is {BADGE}",
        raw=text,
        reasoning=text,
        calls=(one, other),
        problems=(problem,),
        candidates=(CandidateScore(tool="crm/get", score=1.0, why=CUSTOMER),),
        plan=(CUSTOMER,),
    )
    return Trace(
        trace_id=f"trace of {CUSTOMER}",
        query=f"who is {CUSTOMER}, badge no: {BADGE}?",
        task_id=CUSTOMER,
        agent=CUSTOMER,
        model=CUSTOMER,
        source=CUSTOMER,
        started_at=1.0,
        exposure=Exposure(
            offered=("crm/get",), hidden={"crm/get_token": "permission"}, cut_descriptions={"a/token": 5}
        ),
        steps=(step,),
        blocks=(
            ContextBlock(id="b", kind="tool_result", text=json.dumps(value), call_id="c1", value=value),
            ContextBlock(id="f", kind="retrieval", text=text, facts=(BADGE, CUSTOMER, NOTE)),
        ),
        state_slots=(StateSlot(name="badge_no", source="crm.get", value=BADGE),),
        final_text=f"{text} {NOTE}",
        findings=outcome.findings,
        metadata={**value, "cause": CUSTOMER},
    )


def test_the_store_of_a_project_writes_by_its_rules(project: Path) -> None:
    with TraceStore.of_project(project) as store:
        store.add(everywhere(), wait=True)
        assert told(project) == []
        kept = store.get(next(store.iterate()).trace_id)
        assert [one.trace_id for one in store.summaries(TraceFilter(tool="crm/get"))] == [kept.trace_id]
        assert store.get(everywhere().trace_id) == kept  # what was masked is found by what it was
    first = kept.calls[0]
    assert kept.exposure.hidden == {"crm/get_token": "permission"}
    assert kept.exposure.cut_descriptions == {"a/token": 5}
    assert first.arguments["note"] == "[redacted]"
    assert first.outcome.value["note"].startswith("[redacted:")
    assert first.outcome.value["badge_no"] == first.arguments["badge_no"] == kept.state_slots[0].value
    assert kept.steps[0].text == f"the badge is {first.arguments['badge_no']}"
    assert first.changes[0].before == first.arguments["badge_no"]
    assert told(project) == []


def test_the_standard_rules_alone_would_not_do(project: Path) -> None:
    with TraceStore.open(project / "traces.db") as store:
        store.add(everywhere(), wait=True)
    assert {secret for _, secret in told(project)} >= set(SECRETS)


def test_numbers_are_masked_by_name_and_wherever_else_they_stand(project: Path) -> None:
    badge = 471147114711
    one = Call(
        call_id="c",
        name="t",
        arguments={"badge_no": badge},
        outcome=CallOutcome(status="ok", value=[badge, 3], text=f"[{badge}, 3]", latency_ms=3.0),
    )
    with TraceStore.of_project(project) as store:
        store.add(Trace(trace_id="t", steps=(Step(index=0, calls=(one,)),)), wait=True)
        kept = store.get("t").calls[0]
    assert kept.outcome.value == [kept.arguments["badge_no"], 3]
    assert kept.outcome.latency_ms == 3.0
    assert not [file for file in project.rglob("*.db*") if str(badge).encode() in file.read_bytes()]


def test_the_recorder_and_the_receiver_write_by_the_rules_of_their_store(project: Path) -> None:
    def look(badge_no: str, note: str) -> dict[str, str]:
        if note == "fail":
            raise ValueError(f"nobody has badge_no={badge_no}")
        return {"owner": CUSTOMER, "note": note}

    with TraceStore.of_project(project / "reach.yaml", os.environ) as store:
        with Recorder(store).request(f"who has {CUSTOMER}?") as request:
            wrapped = request.wrap(look)
            wrapped(BADGE, NOTE)
            with pytest.raises(ValueError, match=BADGE):
                wrapped(BADGE, "fail")
            request.final(f"It belongs to {CUSTOMER}.")
        span = {
            "traceId": "a" * 32,
            "spanId": "b" * 16,
            "name": "execute_tool look",
            "startTimeUnixNano": "1",
            "endTimeUnixNano": "2",
            "attributes": [
                {"key": key, "value": {"stringValue": value}}
                for key, value in {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": "look",
                    "gen_ai.tool.call.arguments": json.dumps({"badge_no": BADGE, "note": NOTE}),
                    "gen_ai.tool.call.result": json.dumps({"owner": CUSTOMER, "note": NOTE}),
                }.items()
            ],
        }
        with TelemetryReceiver(store, port=0) as receiver:
            receiver.take({"resourceSpans": [{"scopeSpans": [{"scope": {}, "spans": [span]}]}]})
        assert [len(trace.calls) for trace in store.iterate()] == [2, 1]
    assert told(project) == []


def test_the_import_command_writes_by_the_rules_of_the_project(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agent_reach.cli.main import run_command_line

    messages = [
        {"role": "user", "content": f"who is {CUSTOMER}?"},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "look", "arguments": json.dumps({"badge_no": BADGE, "note": NOTE})},
                }
            ],
        },
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": json.dumps({"owner": {"badge_no": BADGE}, "note": NOTE}),
        },
    ]
    source = project / "input.jsonl"
    source.write_text(json.dumps({"messages": messages}) + "\n")
    assert len(list(import_traces(source))) == 1
    monkeypatch.chdir(project)
    assert run_command_line(["traces", "import", str(source)]) == 0
    assert run_command_line(["traces", "import", str(source), "--store", "other.db"]) == 0
    assert run_command_line(["traces", "migrate", "--store", "other.db", "--to", "third.db"]) == 0
    for name in ("traces.db", "other.db", "third.db"):
        with TraceStore.open(name, read_only=True) as store:
            assert [one.name for trace in store.iterate() for one in trace.calls] == ["look"]
    assert told(project) == []


@pytest.mark.live
@pytest.mark.parametrize("durable", [False, True])
def test_the_gateway_writes_by_the_rules_of_the_project(project: Path, durable: bool) -> None:
    from agent_reach.gateway.settings import gateway_settings
    from agent_reach.gateway.start import build_gateway

    (project / "mcp.json").write_text(
        json.dumps(servers(one=entry(env={"SHOP_TOKEN": "plain-server-word", "MODE": "echo-mode"})))
    )
    made = load_project(project, {})

    async def main() -> list[Any]:
        settings = gateway_settings(made, {}, durable=durable)
        built = build_gateway(made, settings, dict(os.environ))
        try:
            found = await call(built, "find", {"query": f"echo the text of {CUSTOMER}"})
            echoed = await call(built, "call_read", {"name": "echo", "arguments": {"text": f"for {BADGE}"}})
            more = await call(built, "echo", {"text": f"plain-server-word echo-mode badge no: {BADGE}"})
            wrong = await call(built, "echo", {"badge_no": BADGE, "note": NOTE})
            return [found, echoed, more, wrong]
        finally:
            await built.close()

    answers = run(main())
    assert f"for {BADGE}" in json.dumps(answers[1])  # the client gets what the server said
    assert told(project) == []
    stored = (project / "traces.db").read_bytes()
    assert b"plain-server-word" not in stored
    assert b"echo-mode" not in stored  # a rule for `echo.arguments.text` masks the whole
    with TraceStore.open(project / "traces.db", read_only=True) as store:
        assert len(list(store.iterate())) == 4


@pytest.mark.live
def test_serving_a_file_inside_a_project_keeps_its_rules(project: Path) -> None:
    from tests.gateway.launching import serving

    catalog = servers(one=entry())

    async def main() -> dict[str, Any]:
        async with serving(project, catalog, "--mode", "all") as lines:
            return await lines.ask("tools/call", {"name": "echo", "arguments": {"text": f"see {CUSTOMER}"}})

    answer = run(main())
    assert CUSTOMER in json.dumps(answer)
    with TraceStore.open(project / "traces.db", read_only=True) as store:
        assert store.count() == 1
    assert told(project) == []


def test_the_reach_layer_of_a_project_writes_by_its_rules(project: Path) -> None:
    from agent_reach.router.reach import Reach

    (project / "tools.py").write_text(
        "from agent_reach import tool\n\n\n@tool\ndef look(badge_no: str) -> dict:\n"
        '    """Look up the owner of a badge."""\n    return {"badge_no": badge_no, "note": "x"}\n'
    )
    (project / "reach.yaml").write_text("catalog: tools.py\nreach: {history: true}\n" + RULES)

    async def main() -> None:
        reach = Reach.from_config(project / "reach.yaml")
        async with reach.request(f"look up the owner of the badge {CUSTOMER}") as request:
            found = request.find()
            outcome = await request.execute(request.normalize(found[0].tool, {"badge_no": BADGE}))
            assert outcome.ok
        reach.store.close()

    run(main())
    with TraceStore.open(project / "traces.db", read_only=True) as store:
        assert len(list(store.iterate())) == 1
    assert told(project) == []
