"""The command group, and the one place where errors become messages and exit codes.

Commands are listed by name with their one-line help and imported only when they run, so that `--help` stays fast.
Exit codes: 0 good, 1 the gate or threshold says no, 2 usage or input error, 3 not decidable.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import TextIO

import click

from agent_reach.version import __version__

EXIT_GOOD = 0
EXIT_GATE = 1
EXIT_INPUT = 2
EXIT_UNDECIDED = 3
EXIT_STOPPED = 130

COMMANDS: dict[str, str] = {
    "demo": "Run the whole loop on the bundled store, offline.",
    "check": "First look at an MCP configuration; with a project, the release gate.",
    "init": "Write a project: reach.yaml, config.yaml, a starter suite, a CI snippet.",
    "snapshot": "Freeze the tool list; --check says whether it moved.",
    "catalog": "Compare, show and export tool lists.",
    "probe": "Say which tools can be started and called here.",
    "lint": "Say what stands between a tool and a model.",
    "run": "Run a suite against an agent and write a report.",
    "diff": "Compare a report with the confirmed baseline.",
    "explain": "Show one task of a report step by step.",
    "baseline": "Promote a report to be the baseline.",
    "suite": "Check, import and draft task suites.",
    "map": "Draw what the agent can reach, and what it cannot.",
    "watch": "The map over a time window of the trace store.",
    "route": "Find the tools for a request.",
    "serve": "Serve the reach layer as an MCP gateway.",
    "traces": "Import, export, list, show and replay traces.",
    "sweep": "Measure reach against tool count and context load.",
    "tune": "Propose changes and keep those that help.",
    "model": "Fetch the small local model.",
    "report": "Render a report again in another form or language.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are named, from `agent_reach.cli.<name>_command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"agent_reach.cli.{cmd_name}_command")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in COMMANDS:
            from agent_reach.text.tokens import nearest_names

            near = nearest_names(args[0], list(COMMANDS), limit=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="agent-reach")
def group() -> None:
    """What can an AI agent reach among its tools, what can it not, and why?"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    sys.exit(run_command_line(arguments))


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is returned, errors are told on stderr."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    given = sys.argv[1:] if arguments is None else list(arguments)
    try:
        result = group.main(args=given, standalone_mode=False)
        sys.stdout.flush()  # a full disk shows here, and not after the exit code is settled
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        from agent_reach.cli.failure import tell_stopped

        tell_stopped(given)
        return EXIT_STOPPED
    except BrokenPipeError:
        _drop_output(sys.stdout)
        return EXIT_GOOD
    except Exception as error:
        from agent_reach.cli.failure import tell

        if isinstance(error, OSError):
            _drop_output(sys.stdout)
        try:
            tell(error, given)
        except OSError:  # stderr is gone too: the exit code is all that is left
            _drop_output(sys.stderr)
        return EXIT_INPUT
    return result if isinstance(result, int) else EXIT_GOOD


def _drop_output(stream: TextIO) -> None:
    """Let what could not be written go, or Python tries again at its end and complains in the middle of nowhere."""
    with contextlib.suppress(OSError, ValueError):
        number = os.open(os.devnull, os.O_WRONLY)
        os.dup2(number, stream.fileno())
        os.close(number)
