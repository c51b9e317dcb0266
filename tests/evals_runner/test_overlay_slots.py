"""State slots that the overlay declares hold for every task; a task's own slot of that name wins."""

from __future__ import annotations

import sys
import types

from agent_reach.evals.runner import run
from agent_reach.evals.suite.load import Suite


async def agent(request):
    done = await request.call("create_order", {"product": "P-1"})
    await request.call("ship_order", {"order_id": done.value["order_id"]})
    return "done"


def test_slots_of_the_overlay_are_filled_and_used(tmp_path, monkeypatch):
    schema = {"type": "object", "properties": {"product": {"type": "string"}}, "required": ["product"]}
    ship = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    task = {
        "id": "t1", "kind": "must", "query": "order P-1 and ship it",
        "path": [
            {"id": "made", "tool": "create_order", "args": {"product": "P-1"}, "result": {"order_id": "ORD-77123"}},
            {"tool": "ship_order", "args": {"order_id": {"$from": "made.order_id"}}, "result": {"done": True}},
        ],
    }  # fmt: skip
    config = {
        "catalog": [
            {"name": "create_order", "description": "Create.", "inputSchema": schema},
            {"name": "ship_order", "description": "Ship.", "inputSchema": ship},
        ],
        "overlay": str(tmp_path / "overlay.yaml"),
        "agent": {"type": "python", "function": "overlay_slots_agent:agent"},
        "execution": "recorded",
    }
    (tmp_path / "overlay.yaml").write_text(
        "state_slots: [{name: order_id, from: create_order.order_id}]\n", encoding="utf-8"
    )
    module = types.ModuleType("overlay_slots_agent")
    module.agent = agent
    monkeypatch.setitem(sys.modules, "overlay_slots_agent", module)
    report = run(config, suite=Suite.load([task]), archive=tmp_path / "runs")
    metric = report.metrics["state_slot_use"]
    assert (metric.numerator, metric.denominator) == (1, 1)
