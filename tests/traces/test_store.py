"""Stores keep what they acknowledged, count each step once, and say so when they cannot."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import sys
import time
from dataclasses import replace

import pytest

from agent_reach.errors import TraceError
from agent_reach.records.trace import Call, CallOutcome, Step, Trace
from agent_reach.traces.recorder import Recorder
from agent_reach.traces.store.base import TraceFilter, TraceStore

DAY = 86400.0


def trace(
    number: int, *, steps: int = 2, status: str = "ok", tool: str = "s/look", start: float | None = None
) -> Trace:
    outcome = CallOutcome(
        status=status,
        error_kind="timeout" if status == "failed" else None,
        latency_ms=10.0 * number,
        value={"n": number},
    )
    return Trace(
        trace_id=f"trace-{number:05d}",
        query=f"请求 {number} 100%",
        task_id=f"task-{number % 3}",
        started_at=DAY * 20000 + number if start is None else start,
        steps=tuple(
            Step(
                index=index,
                text="x",
                calls=(
                    Call(
                        call_id=f"c{index}",
                        name=tool,
                        tool=tool,
                        arguments={"api_key": "secret-value-1", "n": 2**60},
                        outcome=outcome,
                    ),
                ),
            )
            for index in range(steps)
        ),
    )


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.live)])
def url(request, tmp_path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "inner" / "traces.db")
    address: str = request.getfixturevalue("empty_postgres")
    return address


def test_traces_come_back_equal_but_for_secrets(url):
    with TraceStore.open(url) as store:
        store.add(trace(1), wait=True)
        read = store.get("trace-00001")
        assert read.query == "请求 1 100%"
        assert read.steps[1].calls[0].arguments["n"] == 2**60
        assert read.steps[1].calls[0].arguments["api_key"].startswith("[redacted:")
        bare = replace(trace(2), steps=())
        store.add(bare, wait=True)
        assert store.get("trace-00002") == bare


def test_adding_again_changes_nothing_and_more_steps_grow(url):
    with TraceStore.open(url) as store:
        for steps in (1, 1, 3, 2):
            store.add(trace(1, steps=steps), wait=True)
        assert len(store.get("trace-00001").steps) == 3
        (figures,) = store.statistics()
        assert (figures.calls, figures.ok) == (3, 3)


def test_filters_and_pages(url):
    with TraceStore.open(url) as store:
        store.add_all(
            trace(number, status="failed" if number % 2 else "ok", tool="s/look" if number < 300 else "put")
            for number in range(450)
        )
        assert [one.trace_id for one in store.summaries(TraceFilter(limit=2))] == [
            "trace-00449",
            "trace-00448",
        ]
        assert len(store.summaries(TraceFilter(offset=440))) == 10
        assert len(list(store.iterate())) == 450
        assert len(list(store.iterate(TraceFilter(tool="put", status="failed")))) == 75
        assert len(store.summaries(TraceFilter(server="s", error_kind="timeout"))) == 150
        assert len(store.summaries(TraceFilter(task_id="task-1"))) == 150
        assert len(store.summaries(TraceFilter(text="7 100%"))) == 45
        assert len(store.summaries(TraceFilter(text="_"))) == 0
        start = DAY * 20000
        assert len(store.summaries(TraceFilter(since=start + 10, until=start + 20))) == 10
        one = store.summaries(TraceFilter(limit=1))[0]
        assert (one.steps, one.calls, one.failed) == (2, 2, 2)


def test_statistics_out_of_rollups(url):
    with TraceStore.open(url) as store:
        store.add_all(trace(number, steps=1, start=DAY * (100 + number % 2)) for number in range(1, 101))
        (figures,) = store.statistics()
        assert figures.calls == 100
        assert figures.latency_mean == pytest.approx(505)
        assert 500 <= figures.latency_p50 <= 750
        assert 950 <= figures.latency_p95 <= 1425
        assert store.statistics(since=DAY * 101)[0].calls == 50
        assert store.statistics(since=DAY * 102) == []


def test_prune_by_age_and_size_keeps_rollups(url):
    with TraceStore.open(url) as store:
        store.add_all(trace(number) for number in range(300))
        assert store.prune(before=DAY * 20000 + 100) == 100
        before = len(store.summaries())
        assert 0 < store.prune(max_bytes=100_000 if "://" not in url else 30_000) < before
        assert store.summaries()[0].trace_id == "trace-00299"
        assert store.statistics()[0].calls == 600


def test_ids_by_their_beginning(url):
    with TraceStore.open(url) as store:
        store.add_all([trace(1), trace(2)])
        assert store.get("trace-00002").trace_id == store.get("trace-00002"[:11]).trace_id
        with pytest.raises(TraceError, match="begins several ids"):
            store.get("trace-")
        with pytest.raises(TraceError, match="no trace 'x'"):
            store.get("x")


def test_readers_do_not_write(tmp_path):
    path = tmp_path / "t.db"
    with pytest.raises(TraceError, match="no such store"):
        TraceStore.open(path, read_only=True)
    with TraceStore.open(path) as store:
        store.add(trace(1), wait=True)
        with TraceStore.open(path, read_only=True) as reader:
            assert len(reader.summaries()) == 1
            with pytest.raises(TraceError, match="read-only"):
                reader.add(trace(2))
    with pytest.raises(TraceError, match="closed"):
        store.add(trace(3))


def test_what_is_no_store_is_an_error(tmp_path):
    path = tmp_path / "t.db"
    path.write_text("no database at all, just text that is long enough " * 30, encoding="utf-8")
    with pytest.raises(TraceError, match="cannot open"):
        TraceStore.open(path)
    with pytest.raises(TraceError, match="'mysql' is no kind of store"):
        TraceStore.open("mysql://x/y")
    with pytest.raises(TraceError, match="cannot connect") as caught:
        TraceStore.open("postgresql://me:hunter22@127.0.0.1:1/none")
    assert "hunter22" not in str(caught.value)


def test_a_store_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "t.db"
    TraceStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO migrations VALUES ('999_future', 'now')")
    connection.close()
    with pytest.raises(TraceError, match="newer version"):
        TraceStore.open(path)


def test_no_byte_on_disk_holds_a_planted_secret(tmp_path):
    secret = "PLANTED-9f8e7d6c5b"
    planted = replace(
        trace(1),
        query=f"use api_key={secret} please",
        metadata={"headers": {"Authorization": f"Bearer {secret}"}},
        final_text=f"Authorization: Bearer {secret}",
        steps=(
            Step(
                index=0,
                raw=f'{{"password": "{secret}"}}',
                text=f"token: Bearer {secret}1",
                calls=(
                    Call(
                        call_id="c",
                        name="t",
                        arguments={"deep": [{"client_secret": secret}]},
                        outcome=CallOutcome(status="failed", message=f"postgres://u:{secret}@h/d"),
                    ),
                ),
            ),
        ),
    )
    with TraceStore.open(tmp_path / "t.db") as store:
        store.add(planted, wait=True)
        found = [path.name for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()]
    assert found == []
    assert not [path.name for path in tmp_path.iterdir() if secret.encode() in path.read_bytes()]


def _write_until_killed(path: str, durable: bool, acknowledged: object) -> None:
    store = TraceStore.open(path, durable=durable)
    for number in range(100_000):
        store.add(trace(number, steps=1), wait=not durable and number % 7 == 0)
        if durable or number % 7 == 0:
            acknowledged.value = number  # type: ignore[attr-defined]


@pytest.mark.live
@pytest.mark.parametrize("durable", [True, False])
def test_a_killed_writer_loses_nothing_acknowledged(tmp_path, durable):
    path = str(tmp_path / "t.db")
    context = multiprocessing.get_context("spawn")
    acknowledged = context.Value("q", -1)
    process = context.Process(target=_write_until_killed, args=(path, durable, acknowledged))
    process.start()
    deadline = time.monotonic() + 60
    while acknowledged.value < 50 and time.monotonic() < deadline:
        time.sleep(0.02)
    last = acknowledged.value
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    last = max(last, acknowledged.value)
    assert last >= 50
    with TraceStore.open(path) as store:
        kept = {one.trace_id for one in store.summaries()}
        assert {f"trace-{number:05d}" for number in range(last + 1)} <= kept
        assert store.statistics()[0].calls == len(kept)


def _write_some(path: str, first: int) -> None:
    with TraceStore.open(path) as store:
        store.add_all(trace(number, steps=1) for number in range(first, first + 200))


@pytest.mark.live
def test_three_processes_write_one_store(url):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_write_some, args=(url, 1000 * number)) for number in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    with TraceStore.open(url) as store:
        assert len(store.summaries()) == 600
        assert store.statistics()[0].calls == 600


def test_recorder_watches_and_changes_nothing(tmp_path):
    import asyncio

    async def look(order_id: str, depth: int = 1) -> dict[str, object]:
        """Look it up."""
        return {"order_id": order_id, "depth": depth}

    def fail(reason: str) -> None:
        raise ValueError(f"rate limit: {reason}")

    async def agent(recorder: Recorder) -> None:
        async with recorder.request("查一下 ORD-7001", task_id="t1") as request:
            request.offered([{"type": "function", "function": {"name": "look"}}, fail, "third"])
            request.raw("let me look")
            assert (await request.wrap(look)("ORD-7001"))["order_id"] == "ORD-7001"
            with pytest.raises(ValueError, match="rate limit"):
                request.wrap(fail)(reason="x")
            request.raw("done")
            request.final("done")

    with TraceStore.open(tmp_path / "t.db") as store:
        asyncio.run(agent(Recorder(store, agent="mine", model="m")))
        (one,) = store.summaries()
        kept = store.get(one.trace_id)
    assert kept.exposure.offered == ("look", "fail", "third")
    assert [step.raw for step in kept.steps] == ["let me look", "done"]
    first, second = kept.calls
    assert (first.name, first.arguments) == ("look", {"order_id": "ORD-7001"})
    assert first.outcome.value == {"order_id": "ORD-7001", "depth": 1}
    assert (second.outcome.status, second.outcome.error_kind) == ("failed", "rate_limited")
    assert kept.final_text == "done"


def test_recorder_keeps_the_trace_of_a_request_that_broke(tmp_path):
    with TraceStore.open(tmp_path / "t.db") as store:
        request = Recorder(store).request("x")
        request.call("look", {"a": 1}, None)
        with pytest.raises(RuntimeError), request:
            raise RuntimeError("gone")
        kept = next(store.iterate())
    assert kept.calls[0].outcome is None
    assert [finding.code for finding in kept.findings] == ["request_failed"]


if sys.platform == "win32":
    pytest.skip("process tests need POSIX signals", allow_module_level=True)


def test_texts_that_no_database_holds_are_kept_as_far_as_they_go(url):
    odd = replace(trace(1), trace_id="a\ud800b", query="bad \ud800 and \x00", final_text="\udfff", steps=())
    with TraceStore.open(url) as store:
        store.add_all([trace(2), odd, trace(3)])
        assert store.count() == 3
        assert store.get("a?b").query == odd.query


class Unshowable:
    def __repr__(self):
        raise RuntimeError("no text")


def test_what_cannot_be_shown_or_stored_never_stops_the_agent(tmp_path):
    def look() -> object:
        return [Unshowable()]

    store = TraceStore.open(tmp_path / "t.db")
    recorder = Recorder(store)
    with recorder.request("x") as request:
        assert isinstance(request.wrap(look)()[0], Unshowable)
    assert "while showing it" in next(store.iterate()).calls[0].outcome.value[0]
    store.close()
    with recorder.request("after the end") as request:
        request.final("fine")
    assert len(recorder.failures) == 1


def test_a_store_of_an_older_form_is_read_after_migrating(tmp_path):
    path = tmp_path / "t.db"
    with TraceStore.open(path) as store:
        store.add(trace(1), wait=True)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE rollup_all")
        connection.execute("DELETE FROM migrations WHERE name = '002_rollup_over_all_days'")
    connection.close()
    with TraceStore.open(path, read_only=True) as store, pytest.raises(TraceError, match="older form"):
        store.statistics()
    with TraceStore.open(path) as store:
        assert store.statistics()[0].calls == 2


@pytest.mark.live
def test_a_database_that_went_away_gets_everything_once_it_is_back(empty_postgres):
    import psycopg

    with TraceStore.open(empty_postgres) as store, psycopg.connect(empty_postgres, autocommit=True) as other:
        for number in range(600):
            store.add(trace(number, steps=1))
            if number % 100 == 50:
                other.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'reach'"
                )
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            (count,) = other.execute("SELECT COUNT(*) FROM traces").fetchone()
            if count == 600:
                break
            time.sleep(0.05)
        assert count == 600
        assert store.statistics()[0].calls == 600


@pytest.mark.live
def test_one_trace_that_no_column_takes_costs_no_other(empty_postgres):
    odd = replace(trace(1), steps=(replace(trace(1).steps[0], index=2**40),))
    with TraceStore.open(empty_postgres) as store:
        store.add(trace(2))
        store.add(odd)
        with pytest.raises(TraceError, match="1 traces cannot be stored: trace-00001"):
            store.add(trace(3), wait=True)
        assert [one.trace_id for one in store.iterate()] == ["trace-00003", "trace-00002"]
