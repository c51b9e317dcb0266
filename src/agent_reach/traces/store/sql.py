"""What both stores do the same way over a database connection: write a batch, read traces, sum roll-ups, prune.

The differences (placeholders, who may write, how a batch is made safe) are in `sqlite` and `postgres`. A connection here
is anything with `execute(sql, parameters)` that returns rows by `fetchall`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from agent_reach.errors import TraceError
from agent_reach.records.trace import Trace
from agent_reach.traces.store.base import ToolStatistics, TraceFilter, TraceSummary
from agent_reach.traces.store.schema import (
    MIGRATIONS,
    MIGRATIONS_TABLE,
    TraceRows,
    day_of,
    over_all_days,
    rollup_rows,
    statistics_of,
    trace_from,
    where_clause,
)

_CHUNK = 200
_PAGE = 200


class Sql:
    """The statements of a store, in one driver's spelling (`mark` is its placeholder)."""

    def __init__(self, mark: str, where: str) -> None:
        self.mark = mark
        self.where = where

    def marks(self, count: int) -> str:
        """`(?, ?, ...)`."""
        return "(" + ", ".join([self.mark] * count) + ")"

    def migrate(self, connection: Any) -> list[str]:
        """Apply the migrations that are missing, in order; their names."""
        connection.execute(MIGRATIONS_TABLE)
        done = {row[0] for row in connection.execute("SELECT name FROM migrations").fetchall()}
        unknown = done - {name for name, _ in MIGRATIONS}
        if unknown:
            raise TraceError(
                f"the store was written by a newer version ({', '.join(sorted(unknown))})",
                where=self.where,
                next_step="upgrade agent-reach-toolkit",
            )
        applied = []
        for name, statements in MIGRATIONS:
            if name not in done:
                for statement in statements:
                    connection.execute(statement)
                moment = datetime.now(UTC).isoformat(timespec="seconds")
                connection.execute(f"INSERT INTO migrations VALUES {self.marks(2)}", (name, moment))
                applied.append(name)
        return applied

    def missing(self, connection: Any) -> list[str]:
        """The migrations that a store lacks."""
        done = {row[0] for row in connection.execute("SELECT name FROM migrations").fetchall()}
        return [name for name, _ in MIGRATIONS if name not in done]

    def write(self, connection: Any, batch: Sequence[TraceRows]) -> None:
        """Write a batch inside the caller's transaction. Steps that are there already change nothing; roll-ups count new
        steps only."""
        latest = {rows.header[0]: rows.header for rows in batch}
        upsert = (
            f"INSERT INTO traces VALUES {self.marks(10)} ON CONFLICT (trace_id) DO UPDATE SET ended_at = excluded.ended_at,"
            " cause = excluded.cause, body = excluded.body"
        )
        for header in latest.values():
            connection.execute(upsert, header)
        calls: list[tuple[Any, ...]] = []
        by_key = {(rows.header[0], step): rows for rows in batch for step, _ in rows.steps}
        steps = [(rows.header[0], step, body) for rows in batch for step, body in rows.steps]
        for start in range(0, len(steps), _CHUNK):
            chunk = steps[start : start + _CHUNK]
            values = ", ".join([self.marks(3)] * len(chunk))
            inserted = connection.execute(
                f"INSERT INTO steps VALUES {values} ON CONFLICT DO NOTHING RETURNING trace_id, step",
                [item for row in chunk for item in row],
            ).fetchall()
            for trace_id, step in inserted:
                calls.extend(by_key[(trace_id, step)].calls.get(step, ()))
        self._write_calls(connection, calls)

    def _write_calls(self, connection: Any, calls: list[tuple[Any, ...]]) -> None:
        for start in range(0, len(calls), _CHUNK // 2):
            chunk = calls[start : start + _CHUNK // 2]
            values = ", ".join([self.marks(11)] * len(chunk))
            connection.execute(
                f"INSERT INTO calls VALUES {values} ON CONFLICT DO NOTHING",
                [item for row in chunk for item in row],
            )
        rows = rollup_rows(calls)
        self._add_up(connection, "rollup", ("day", "tool", "status", "error_kind", "bucket"), rows)
        self._add_up(
            connection, "rollup_all", ("tool", "status", "error_kind", "bucket"), over_all_days(rows)
        )

    def _add_up(self, connection: Any, table: str, key: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
        """Add counts to a roll-up, in a fixed order, so that two writers cannot lock each other out."""
        statement = (
            f"INSERT INTO {table} VALUES {self.marks(len(key) + 3)} ON CONFLICT ({', '.join(key)}) DO UPDATE SET"
            f" calls = {table}.calls + excluded.calls, latency_sum = {table}.latency_sum + excluded.latency_sum,"
            f" timed = {table}.timed + excluded.timed"
        )
        for row in sorted(rows):
            connection.execute(statement, row)

    def get(self, connection: Any, trace_id: str, masked: str = "") -> Trace:
        """One trace, by id or by the beginning of one; `masked` is what the redactor makes of that id."""
        found = self._heads(connection, trace_id)
        if not found and masked != trace_id:
            found = self._heads(connection, masked)
        if not found:
            raise TraceError(f"no trace {trace_id!r}", where=self.where, next_step="agent-reach traces list")
        if len(found) > 1:
            names = ", ".join(row[0] for row in found)
            raise TraceError(
                f"{trace_id!r} begins several ids: {names}", where=self.where, next_step="give more of the id"
            )
        return self._assembled(connection, found)[0]

    def _heads(self, connection: Any, trace_id: str) -> Sequence[Sequence[Any]]:
        """Id and body of the trace of that id, else of the first three that begin so."""
        select = "SELECT trace_id, body FROM traces WHERE trace_id"
        found: list[Sequence[Any]] = connection.execute(f"{select} = {self.mark}", (trace_id,)).fetchall()
        if not found and trace_id:
            found = connection.execute(
                f"{select} >= {self.mark} AND trace_id < {self.mark} LIMIT 3",
                (trace_id, trace_id + "\U0010ffff"),
            ).fetchall()
        return found

    def _assembled(self, connection: Any, heads: Sequence[Sequence[Any]]) -> list[Trace]:
        bodies: dict[str, list[str]] = {row[0]: [] for row in heads}
        names = list(bodies)
        rows = connection.execute(
            f"SELECT trace_id, body FROM steps WHERE trace_id IN {self.marks(len(names))} ORDER BY trace_id, step",
            names,
        ).fetchall()
        for trace_id, body in rows:
            bodies[trace_id].append(body)
        return [trace_from(row[1], bodies[row[0]]) for row in heads]

    def pages(self, connection: Any, wanted: TraceFilter) -> Iterator[list[Trace]]:
        """The traces that are meant, in pages, newest first."""
        condition, values = where_clause(wanted, self.mark)
        left = wanted.limit
        offset = wanted.offset
        while left is None or left > 0:
            size = _PAGE if left is None else min(_PAGE, left)
            heads = connection.execute(
                f"SELECT t.trace_id, t.body FROM traces t{condition} ORDER BY t.started_at DESC NULLS LAST, t.trace_id"
                f" LIMIT {int(size)} OFFSET {int(offset)}",
                values,
            ).fetchall()
            if not heads:
                return
            yield self._assembled(connection, heads)
            if len(heads) < size:
                return
            offset += len(heads)
            left = None if left is None else left - len(heads)

    def summaries(self, connection: Any, wanted: TraceFilter) -> list[TraceSummary]:
        """Summaries, newest first."""
        condition, values = where_clause(wanted, self.mark)
        limit = f" LIMIT {int(wanted.limit)}" if wanted.limit is not None else ""
        limit = limit or (" LIMIT 9223372036854775807" if wanted.offset else "")
        offset = f" OFFSET {int(wanted.offset)}" if wanted.offset else ""
        rows = connection.execute(
            "SELECT t.trace_id, t.query, t.started_at, t.task_id, t.agent, t.model, t.source,"
            " (SELECT COUNT(*) FROM steps s WHERE s.trace_id = t.trace_id),"
            " (SELECT COUNT(*) FROM calls c WHERE c.trace_id = t.trace_id),"
            " (SELECT COUNT(*) FROM calls c WHERE c.trace_id = t.trace_id AND c.status = 'failed')"
            f" FROM traces t{condition} ORDER BY t.started_at DESC NULLS LAST, t.trace_id{limit}{offset}",
            values,
        ).fetchall()
        return [
            TraceSummary(
                trace_id=row[0],
                query=row[1],
                started_at=row[2],
                task_id=row[3],
                agent=row[4],
                model=row[5],
                source=row[6],
                steps=row[7],
                calls=row[8],
                failed=row[9],
            )
            for row in rows
        ]

    def count(self, connection: Any) -> int:
        """Number of traces."""
        return int(connection.execute("SELECT COUNT(*) FROM traces").fetchone()[0])

    def statistics(self, connection: Any, since: float | None, until: float | None) -> list[ToolStatistics]:
        """Figures per tool."""
        parts, values = [], []
        if since is not None:
            parts.append(f"day >= {self.mark}")
            values.append(day_of(since))
        if until is not None:
            parts.append(f"day <= {self.mark}")
            values.append(day_of(until))
        condition = f" WHERE {' AND '.join(parts)}" if parts else ""
        rows = connection.execute(
            "SELECT tool, status, error_kind, bucket, SUM(calls), SUM(latency_sum), SUM(timed) FROM"
            f" {'rollup' if parts else 'rollup_all'}{condition} GROUP BY tool, status, error_kind, bucket",
            values,
        ).fetchall()
        return statistics_of(rows)

    def delete(self, connection: Any, trace_ids: Sequence[str]) -> None:
        """Delete traces with their steps and calls."""
        for start in range(0, len(trace_ids), _CHUNK):
            chunk = list(trace_ids[start : start + _CHUNK])
            for table in ("calls", "steps", "traces"):
                connection.execute(f"DELETE FROM {table} WHERE trace_id IN {self.marks(len(chunk))}", chunk)

    def share_over(self, connection: Any, *, used: int, allowed: int) -> int:
        """How many traces stand for the bytes over the limit if all are alike; at least one."""
        total = connection.execute("SELECT COUNT(*) FROM traces").fetchone()[0]
        return max(1, int(total * (1 - allowed / used)))

    def oldest(self, connection: Any, *, before: float | None, limit: int | None) -> list[str]:
        """Ids of the oldest traces."""
        condition = f" WHERE started_at < {self.mark}" if before is not None else ""
        bound = f" LIMIT {int(limit)}" if limit is not None else ""
        rows = connection.execute(
            f"SELECT trace_id FROM traces{condition} ORDER BY started_at NULLS FIRST, trace_id{bound}",
            (before,) if before is not None else (),
        ).fetchall()
        return [row[0] for row in rows]
