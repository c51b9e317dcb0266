"""What HTTP of the current era repeats from a request in headers, so that a proxy can route it unread.

Which arguments are repeated is written in a tool's input schema (`x-mcp-header`); the rules are those of the `mcp`
package. Older eras and pipes repeat nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agent_reach.records.finding import Finding
from agent_reach.records.message import Message
from agent_reach.wire.protocol import METHOD_HEADER, NAME_HEADER, NAME_PARAMETERS, VERSION_HEADER


class ParameterHeaders:
    """Remembers, from the last tool list, which arguments go into headers."""

    def __init__(self) -> None:
        self._maps: dict[str, Any] = {}

    def of_request(self, version: str, method: str, params: Mapping[str, Any]) -> dict[str, str]:
        """The headers of one request."""
        from mcp.shared.inbound import encode_header_value, mcp_param_headers

        headers = {VERSION_HEADER: version, METHOD_HEADER: method}
        name = params.get(NAME_PARAMETERS.get(method, ""))
        if isinstance(name, str):
            headers[NAME_HEADER] = encode_header_value(name)
            header_map = self._maps.get(name)
            if method == "tools/call" and header_map:
                headers.update(mcp_param_headers(header_map, params.get("arguments") or {}))
        return headers

    def learn(
        self, tools: tuple[dict[str, Any], ...], findings: list[Finding], server: str, source: str
    ) -> tuple[dict[str, Any], ...]:
        """The tools that may be used: one that asks for headers wrongly must be left out, as the protocol says."""
        if '"x-mcp-header"' not in json.dumps(tools):
            return tools
        from mcp.shared.inbound import find_invalid_x_mcp_header, x_mcp_header_map

        kept = []
        for tool in tools:
            schema = tool.get("inputSchema")
            reason = find_invalid_x_mcp_header(schema)
            if reason is None:
                kept.append(tool)
                self._maps[str(tool.get("name"))] = x_mcp_header_map(schema)
                continue
            findings.append(
                Finding(
                    code="invalid_parameter_header",
                    severity="error",
                    subject=f"{server}/{tool.get('name')}",
                    source=source,
                    message=Message(
                        f"the tool is left out, as the protocol asks: {reason}",
                        f"按协议要求略去该工具：{reason}",
                    ),
                )
            )
        return tuple(kept)
