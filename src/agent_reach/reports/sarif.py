"""SARIF 2.1.0, the form in which code hosts show findings beside the lines they are about.

Generic over `Finding`s: lint, suite lint and catalog findings all pass through here. A finding without a file is put on
`default_source`, because readers drop results that have no place.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from agent_reach.records.finding import Finding
from agent_reach.records.message import Language, Message
from agent_reach.version import __version__

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render_sarif(
    findings: Iterable[Finding],
    language: Language = "en",
    *,
    rules: Mapping[str, Message] | None = None,
    default_source: str = "reach.yaml",
) -> str:
    """The findings as SARIF text; `rules` gives each code its one-line description where one is known."""
    document = sarif_document(findings, language, rules=rules, default_source=default_source)
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def sarif_document(
    findings: Iterable[Finding],
    language: Language = "en",
    *,
    rules: Mapping[str, Message] | None = None,
    default_source: str = "reach.yaml",
) -> dict[str, Any]:
    """The findings as a SARIF document."""
    found = list(findings)
    codes = list(dict.fromkeys(finding.code for finding in found))
    places = {code: index for index, code in enumerate(codes)}
    driver = {
        "name": "Agent-Reach",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(code, rules or {}, language) for code in codes],
    }
    results = [_result(finding, places[finding.code], language, default_source) for finding in found]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, rules: Mapping[str, Message], language: Language) -> dict[str, Any]:
    rule: dict[str, Any] = {"id": code}
    if code in rules:
        rule["shortDescription"] = {"text": rules[code].text(language)}
    return rule


def _result(finding: Finding, index: int, language: Language, default_source: str) -> dict[str, Any]:
    text = finding.message.text(language)
    if finding.fix is not None:
        text += "\n" + finding.fix.text(language)
    name = f"{finding.subject}{finding.pointer}"
    # The fingerprint leaves out line and wording, so that a finding stays the same one when the file moves around it.
    identity = "\0".join((finding.code, finding.source, finding.subject, finding.pointer))
    location: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.source or default_source)},
            "region": {"startLine": max(1, finding.line or 1)},
        }
    }
    if name:
        location["logicalLocations"] = [{"fullyQualifiedName": name}]
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": _LEVELS.get(finding.severity, "warning"),
        "message": {"text": text},
        "locations": [location],
        "partialFingerprints": {
            "agentReach/v1": hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        },
    }


def _uri(source: str) -> str:
    """An address as it is; a path with forward slashes and its odd characters escaped."""
    if "://" in source:
        return quote(source, safe=":/?#[]@!$&'()*+,;=%~", errors="replace")
    path = quote(source.replace("\\", "/"), errors="replace")
    return f"file://{path}" if path.startswith("/") else path
