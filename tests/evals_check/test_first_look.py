"""The first look: what failed, what is alike, what breaks, what is dead, what pays."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path

import pytest

from agent_reach import Catalog
from agent_reach.cli.main import run_command_line
from agent_reach.evals.check.first_look import first_look
from agent_reach.records.trace import Call, CallOutcome, Exposure, Step, Trace
from agent_reach.reports.figures import display_width

TOOLS = [
    {
        "name": "update_stock",
        "description": "Set the stock of a product in a warehouse.",
        "inputSchema": {
            "type": "object",
            "properties": {"product_id": {"type": "string"}, "quantity": {"type": "integer"}},
            "required": ["product_id"],
        },
    },
    {
        "name": "update_stocks",
        "description": "Set the stock of products in a warehouse.",
        "inputSchema": {
            "type": "object",
            "properties": {"product_id": {"type": "string"}, "quantity": {"type": "integer"}},
            "required": ["product_id"],
        },
    },
    {
        "name": "查.库存",
        "description": "查询库存。用户问还剩多少时使用。",
        "inputSchema": {
            "type": "object",
            "properties": {"ids[]": {"type": "array", "description": "商品编号，例如 PDT-1001"}},
        },
    },
    {
        "name": "export_all",
        "description": "Export everything.",
        "inputSchema": {"type": "object", "properties": {}},
    },
]


def traces() -> list[Trace]:
    def one(number: int, name: str) -> Trace:
        call = Call(call_id="c", name=name, arguments={}, outcome=CallOutcome(status="ok"))
        return Trace(
            trace_id=f"t{number}",
            exposure=Exposure(mode="all", offered=("update_stock", "update_stocks", "查.库存")),
            steps=(Step(index=0, calls=(call,)),),
        )

    return [one(number, "update_stock") for number in range(4)] + [one(9, "stock_update")]


def test_what_a_first_look_says():
    look = first_look(Catalog.load(TOOLS), traces())
    assert look.tools == 4
    assert look.tokens == sum(server.tokens for server in look.servers)
    assert [(pair.left, pair.right) for pair in look.look_alikes] == [("update_stock", "update_stocks")]
    assert {finding.code for finding in look.breaking} == {"AR404", "AR406", "AR212"}
    assert look.usage.calls == {"update_stock": 4}
    assert dict(look.usage.unknown_names) == {"stock_update": 1}
    assert set(look.usage.never_called) == {"update_stocks", "查.库存"}
    assert look.usage.never_offered == ("export_all",)
    assert {"dead_tools", "unknown_names", "AR301"} <= {fix.code for fix in look.fixes}
    pays = [fix.pay for fix in look.fixes]
    assert pays == sorted(pays, reverse=True)


def test_without_traces_nothing_is_dead():
    look = first_look(Catalog.load(TOOLS))
    assert look.usage.traces == 0
    assert not {"dead_tools", "unknown_names"} & {fix.code for fix in look.fixes}


def run(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run_command_line(["check", *arguments])
    return code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_command_fits_a_terminal_and_speaks_both_languages(tmp_path, language):
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    rows = [
        {
            "messages": [
                {"role": "user", "content": "x"},
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "a", "function": {"name": "export_all", "arguments": "{}"}}],
                },
            ]
        }
    ]
    (tmp_path / "chats.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    code, out, err = run(
        str(tmp_path / "tools.json"), "--traces", str(tmp_path / "chats.jsonl"), "--lang", language
    )
    assert code == 0, err
    assert max(display_width(line) for line in out.splitlines()) <= 80
    assert "update_stocks" in out
    assert ("首要修改" if language == "zh" else "First fixes") in out


def test_a_failed_server_is_told_and_the_rest_is_looked_at(tmp_path):
    servers = {
        "mcpServers": {
            "gone": {"command": "no-such-program-here"},
            "mute": {
                "command": sys.executable,
                "args": ["-c", "raise SystemExit('bad token sk-abcdefghijklmnop123')"],
            },
        }
    }
    (tmp_path / "mcp.json").write_text(json.dumps(servers), encoding="utf-8")
    code, out, _ = run(str(tmp_path / "mcp.json"), "--timeout", "10")
    assert code == 0
    assert "gone" in out
    assert "mute" in out
    assert "abcdefghijklmnop" not in out
    assert run(str(tmp_path / "mcp.json"), "--timeout", "10", "--strict")[0] == 1


@pytest.mark.parametrize("content", ["", "{broken", "[1, 2", "plain text"])
def test_what_cannot_be_read_is_an_input_error(tmp_path, content):
    (tmp_path / "tools.json").write_text(content, encoding="utf-8")
    code, out, err = run(str(tmp_path / "tools.json"))
    assert code == 2
    assert out == ""
    assert "tools.json" in err
    assert "Traceback" not in err


def test_without_source_and_project_it_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run()
    assert code == 2
    assert "agent-reach" in err


def test_real_tool_lists_and_traces(real_data: Path):
    from agent_reach.traces.importers.read import import_traces

    folder = real_data / "graph" / "taubench_gpt4o_airline"
    look = first_look(Catalog.load(folder / "tools.jsonl"), import_traces(folder / "traces.jsonl"))
    assert look.usage.traces == 200
    assert sum(look.usage.calls.values()) == 1164
    assert look.usage.never_called == ()
