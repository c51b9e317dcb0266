"""Counts of the gateway in Prometheus' text form; they hold no arguments and no secrets."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper bounds in seconds."""


@dataclass(slots=True)
class Histogram:
    """Latencies of the calls to one server."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.total += seconds


@dataclass(slots=True)
class Metrics:
    """What has happened since the gateway started."""

    calls: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    meta: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    lists: Counter[str] = field(default_factory=Counter)
    seconds: dict[str, Histogram] = field(default_factory=dict)
    running: int = 0
    traces: int = 0
    traces_lost: int = 0

    def call(self, server: str, status: str, kind: str | None, seconds: float) -> None:
        """Count a call that ended."""
        self.calls[(server, status, kind or "")] += 1
        if server not in self.seconds:
            self.seconds[server] = Histogram()
        self.seconds[server].add(seconds)

    def text(self, gauges: Mapping[str, tuple[str, Iterable[tuple[Mapping[str, str], float]]]]) -> str:
        """All counts, and the given gauges (name -> help and values with labels)."""
        lines: list[str] = []
        _series(
            lines,
            "agent_reach_calls_total",
            "counter",
            "Calls of tools by server and outcome.",
            (({"server": s, "status": t, "kind": k}, n) for (s, t, k), n in sorted(self.calls.items())),
        )
        for name, text, counts, label in (
            ("agent_reach_meta_calls_total", "Calls of find and describe.", self.meta, "tool"),
            ("agent_reach_refused_total", "Requests that were refused, by reason.", self.refused, "reason"),
            ("agent_reach_lists_total", "Lists that were served.", self.lists, "method"),
        ):
            _series(lines, name, "counter", text, (({label: key}, n) for key, n in sorted(counts.items())))
        _series(
            lines, "agent_reach_traces_total", "counter", "Traces handed to the store.", [({}, self.traces)]
        )
        _series(
            lines,
            "agent_reach_traces_lost_total",
            "counter",
            "Traces the store did not take.",
            [({}, self.traces_lost)],
        )
        _series(lines, "agent_reach_calls_running", "gauge", "Calls under way.", [({}, self.running)])
        for name, (text, values) in gauges.items():
            _series(lines, name, "gauge", text, values)
        self._histograms(lines)
        return "\n".join(lines) + "\n"

    def _histograms(self, lines: list[str]) -> None:
        name = "agent_reach_call_seconds"
        lines += [f"# HELP {name} Time from a call's arrival to its answer.", f"# TYPE {name} histogram"]
        for server, histogram in sorted(self.seconds.items()):
            seen = 0
            for bound, count in zip((*BUCKETS, float("inf")), histogram.counts, strict=True):
                seen += count
                edge = "+Inf" if bound == float("inf") else f"{bound:g}"
                lines.append(f"{name}_bucket{_labels({'server': server, 'le': edge})} {seen}")
            lines.append(f"{name}_sum{_labels({'server': server})} {histogram.total:.6f}")
            lines.append(f"{name}_count{_labels({'server': server})} {seen}")


def _series(
    lines: list[str], name: str, kind: str, text: str, values: Iterable[tuple[Mapping[str, str], float]]
) -> None:
    lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
    lines += [f"{name}{_labels(labels)} {value:g}" for labels, value in values]


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    inner = ",".join(f'{key}="{_escaped(value)}"' for key, value in labels.items())
    return "{" + inner + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
