"""The functions that BFCL questions offer, as one catalog.

Questions bring functions of the same name with different definitions; those get `v1`, `v2`, ... as their server, in the
order in which they turn up, so that each question still names exactly its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from typing import Any

from agent_reach.evals.suite.importers.base import read_rows

CLASS_DOCUMENTS = {
    "GorillaFileSystem": "gorilla_file_system.json",
    "MathAPI": "math_api.json",
    "MessageAPI": "message_api.json",
    "TwitterAPI": "posting_api.json",
    "TicketAPI": "ticket_api.json",
    "TradingBot": "trading_bot.json",
    "TravelAPI": "travel_booking.json",
    "VehicleControlAPI": "vehicle_control.json",
}


class BfclTools:
    """Collects definitions; hands out the key by which each is found in the catalog."""

    def __init__(self, folder: Traversable) -> None:
        self._folder = folder
        self._variants: dict[str, list[str]] = {}
        self._found: dict[str, Mapping[str, Any]] = {}
        self._classes: dict[str, list[Mapping[str, Any]]] = {}

    def add_functions(self, functions: Iterable[Mapping[str, Any]]) -> dict[str, str]:
        """Function name -> key, for the functions of one question."""
        return {function["name"]: self._add(function, "") for function in functions}

    def add_classes(self, classes: Iterable[str], excluded: Iterable[str]) -> dict[str, str]:
        """The same for all functions of some stateful classes, without the excluded ones."""
        left_out = set(excluded)
        keys = {}
        for name in classes:
            for function in self._class(name):
                if function["name"] not in left_out:
                    keys[function["name"]] = self._add(function, name)
        return keys

    def _class(self, name: str) -> list[Mapping[str, Any]]:
        if name not in self._classes:
            place = self._folder / "multi_turn_func_doc" / CLASS_DOCUMENTS.get(name, f"{name}.json")
            self._classes[name] = read_rows(place)
        return self._classes[name]

    def _add(self, function: Mapping[str, Any], server: str) -> str:
        text = json.dumps(function, sort_keys=True, ensure_ascii=False)
        name = f"{server}/{function['name']}" if server else str(function["name"])
        variants = self._variants.setdefault(name, [])
        if text not in variants:
            variants.append(text)
        position = variants.index(text)
        key = name if position == 0 else f"v{position + 1}/{name}"
        self._found.setdefault(key, function)
        return key

    def parameters(self, key: str) -> Mapping[str, Any]:
        """The parameter schema of a tool; empty where the tool is not known."""
        parameters = self._found.get(key, {}).get("parameters")
        return parameters if isinstance(parameters, Mapping) else {}

    def definitions(self) -> tuple[dict[str, Any], ...]:
        """Tool definitions with their server, in the order in which they turned up."""
        out = []
        for key, function in self._found.items():
            server = key[: -len(function["name"]) - 1] if key != function["name"] else ""
            definition = {"name": function["name"], "description": function.get("description", "")}
            definition["inputSchema"] = function.get("parameters") or {"type": "object", "properties": {}}
            if function.get("response"):
                definition["outputSchema"] = function["response"]
            out.append({"server": server, **definition} if server else definition)
        return tuple(out)
