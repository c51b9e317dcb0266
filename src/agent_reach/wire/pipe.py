"""Messages over the stdin and stdout of a process that is started and ended here.

One callback from the event loop carries a line to its waiting call: no tasks, queues or models in between, which is
what makes a call cheap. Lines that are no protocol messages are skipped and reported once with a sample. The process
leads a group of its own, so that ending it also ends what it started.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping
from typing import Any

from agent_reach.errors import ServerError
from agent_reach.records.finding import Finding
from agent_reach.records.message import Message as Sentence
from agent_reach.wire.channel import Receiver
from agent_reach.wire.protocol import Message, is_protocol_message
from agent_reach.wire.secrets import server_redactor
from agent_reach.wire.servers import ServerConfig

CLOSE_GRACE = 2.0
"""Seconds a server gets to end by itself after its stdin closes, and again after SIGTERM."""
MAX_LINE = 256 * 1024 * 1024
"""Bytes in one message; a longer one ends the connection, for it would fill the memory."""
_STDERR_KEPT = 16 * 1024
_SAMPLE_LENGTH = 200
_LOOKED_AT = 4096
_SAMPLES = 3


class _Process(asyncio.SubprocessProtocol):
    """Turns what the pipes bring into calls on the channel."""

    def __init__(self, channel: PipeChannel) -> None:
        self._channel = channel

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self._channel.stdout_received(data)
        else:
            self._channel.stderr_received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd in (0, 1):
            self._channel.pipe_ended(fd)

    def process_exited(self) -> None:
        self._channel.process_ended()


class PipeChannel:
    """A server as a child process."""

    def __init__(self, config: ServerConfig, *, close_grace: float = CLOSE_GRACE) -> None:
        self._config = config
        self._close_grace = close_grace
        self._redactor = server_redactor(config)
        self._receiver: Receiver | None = None
        self._transport: asyncio.SubprocessTransport | None = None
        self._stdin: Any = None
        self._partial: list[bytes] = []
        self._partial_size = 0
        self._stderr = bytearray()
        self._noise = 0
        self._samples: list[str] = []
        self._exited = asyncio.Event()
        self._stdout_ended = False
        self._too_long = False
        self._lost = False
        self._closing = False

    @property
    def process_id(self) -> int | None:
        """The id of the process, which is also the id of its group."""
        return self._transport.get_pid() if self._transport is not None else None

    async def open(self, receiver: Receiver) -> None:
        """Start the process."""
        self._receiver = receiver
        config = self._config
        loop = asyncio.get_running_loop()
        try:
            transport, _ = await loop.subprocess_exec(
                lambda: _Process(self),
                config.command,
                *config.args,
                env=dict(config.env),
                cwd=config.cwd or None,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise _start_error(config, error) from error
        self._transport = transport
        self._stdin = transport.get_pipe_transport(0)

    def send(self, message: Message, headers: Mapping[str, str] | None = None) -> None:
        """Write one line; the operating system takes it at once or the event loop later."""
        if self._stdin is None or self._lost or self._stdin.is_closing():
            return
        self._stdin.write(_line(message))

    def stdout_received(self, data: bytes) -> None:
        """Cut what arrived into lines; the last, unfinished one waits."""
        if b"\n" not in data:
            self._keep(data)
            return
        lines = data.split(b"\n")
        if self._partial:
            self._partial.append(lines[0])
            lines[0] = b"".join(self._partial)
            self._partial = []
        rest = lines.pop()
        self._partial_size = 0
        if rest:
            self._keep(rest)
        for line in lines:
            self._line_received(line)

    def stderr_received(self, data: bytes) -> None:
        """Keep the end of what the server says on stderr."""
        self._stderr += data
        if len(self._stderr) > 2 * _STDERR_KEPT:
            del self._stderr[:-_STDERR_KEPT]

    def pipe_ended(self, fd: int) -> None:
        """One of the two pipes closed."""
        if fd == 1:
            if self._partial:
                last, self._partial = b"".join(self._partial), []
                self._line_received(last)
            self._stdout_ended = True
        self._end_soon()

    def process_ended(self) -> None:
        """The process is gone."""
        self._exited.set()
        self._end_soon()

    async def close(self) -> None:
        """Close stdin, then SIGTERM, then SIGKILL to the whole group; waits at most twice the grace."""
        if self._transport is None or self._closing:
            return
        self._closing = True
        transport = self._transport
        try:
            with contextlib.suppress(Exception):
                self._stdin.close()
            if not await self._gone(self._close_grace):
                self._signal(signal.SIGTERM)
                if not await self._gone(self._close_grace):
                    self._signal(signal.SIGKILL)
                    await self._gone(self._close_grace)
        finally:
            self._signal(signal.SIGKILL)
            transport.close()
            self._end()
        await asyncio.sleep(0)

    def stderr_tail(self) -> str:
        """The last lines of stderr, secrets masked."""
        kept = bytes(self._stderr[-_STDERR_KEPT:])
        if (
            len(self._stderr) >= _STDERR_KEPT
        ):  # a first line that is cut may hold half a secret, which nothing would know
            kept = kept.partition(b"\n")[2] or kept[-_SAMPLE_LENGTH:]
        return self._redactor.text(kept.decode("utf-8", "replace").strip())

    def findings(self) -> tuple[Finding, ...]:
        """Noise on stdout, once, with a sample."""
        if not self._noise:
            return ()
        sample = " | ".join(self._samples)
        return (
            Finding(
                code="stdout_noise",
                severity="warning",
                subject=self._config.name,
                source=self._config.where,
                message=Sentence(
                    f"{self._noise} lines on stdout are no protocol messages and were skipped, such as: {sample}",
                    f"标准输出中有 {self._noise} 行不是协议消息，已跳过，例如：{sample}",
                ),
                fix=Sentence(
                    "let the server write its logs to stderr", "让服务器把日志写到标准错误（stderr）"
                ),
                data={"lines": self._noise, "sample": list(self._samples)},
            ),
        )

    async def _gone(self, seconds: float) -> bool:
        try:
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True

    def _signal(self, number: int) -> None:
        process_id = self.process_id
        if process_id is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process_id, number)
            else:  # no process groups here: at least the server itself
                os.kill(process_id, number)

    def _keep(self, data: bytes) -> None:
        self._partial.append(data)
        self._partial_size += len(data)
        if self._partial_size > MAX_LINE:
            self._partial = []
            self._partial_size = 0
            self._too_long = True
            self._signal(signal.SIGKILL)

    def _line_received(self, line: bytes) -> None:
        stripped = line.strip()
        if not stripped:
            return
        try:
            value = json.loads(stripped)
        except (ValueError, RecursionError):
            self._noise_received(stripped)
            value = _after_noise(stripped)
            if value is None:
                return
        for message in value if isinstance(value, list) else [value]:
            if self._receiver is not None and is_protocol_message(message):
                self._receiver.receive(message)
            else:
                self._noise_received(stripped)

    def _noise_received(self, line: bytes) -> None:
        self._noise += 1
        if len(self._samples) < _SAMPLES:
            text = self._redactor.text(line[:_LOOKED_AT].decode("utf-8", "replace"))  # before it is cut
            self._samples.append(text[:_SAMPLE_LENGTH])

    def _end_soon(self) -> None:
        """The last lines and the exit code come apart: wait for both, for a moment (a child may hold the pipes open)."""
        loop = asyncio.get_running_loop()
        if self._stdout_ended and self._exited.is_set():
            loop.call_soon(self._end)
        else:
            loop.call_later(0.5, self._end)

    def _end(self) -> None:
        if self._lost:
            return
        self._lost = True
        if self._receiver is not None:
            self._receiver.lost(self._ending())

    def _ending(self) -> str:
        if self._closing:
            return "the session was closed"
        if self._too_long:
            return f"the server was ended because one message had more than {MAX_LINE // 2**20} MB"
        code = self._transport.get_returncode() if self._transport is not None else None
        if code is None:
            return "the server closed its output"
        if code < 0:
            with contextlib.suppress(ValueError):
                return f"the server was killed by {signal.Signals(-code).name}"
        return f"the server ended with exit code {code}"


def _after_noise(line: bytes) -> Any:
    """The message at the end of a line that begins with something printed without a line break; None if there is none."""
    start = line.find(b'{"jsonrpc"', 1)
    if start < 0:
        return None
    try:
        value = json.loads(line[start:])
    except (ValueError, RecursionError):
        return None
    return value if is_protocol_message(value) else None


def _line(message: Message) -> bytes:
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _start_error(config: ServerConfig, error: Exception) -> ServerError:
    command = config.command
    if isinstance(error, FileNotFoundError) and config.cwd and not os.path.isdir(config.cwd):
        return ServerError(
            f"the folder {config.cwd!r} to start in does not exist",
            where=config.label,
            next_step="correct `cwd`",
        )
    if isinstance(error, FileNotFoundError):
        step = "install it, or write its full path"
        if not config.args and " " in command:
            step = "write only the program in `command` and the rest as a list in `args`"
        return ServerError(f"the program {command!r} was not found", where=config.label, next_step=step)
    return ServerError(f"{command!r} could not be started: {error}", where=config.label)
