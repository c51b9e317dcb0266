"""A small model in a process of its own, serving its API on a loopback address: `python -m ...model_process FILE`.

Its own process, because an engine that dies must not take the run with it. The first line on stdout is JSON with the
address, or with what went wrong; the process ends when its stdin does.
"""

from __future__ import annotations

import argparse
import json
import sys


def main() -> int:
    """Load the model, say where it listens, serve until stdin ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    try:
        from xllamacpp import CommonParams, Server
    except ImportError as error:
        return _say({"missing": "xllamacpp", "error": str(error)}, 3)
    try:
        settings = CommonParams()
        settings.model.path = arguments.model
        settings.hostnames = ["127.0.0.1"]
        settings.port = 0
        settings.n_ctx = arguments.context
        settings.n_parallel = 1
        settings.cache_prompt = True
        settings.warmup = False
        settings.sampling.seed = arguments.seed
        if arguments.threads:
            settings.cpuparams.n_threads = arguments.threads
            settings.cpuparams_batch.n_threads = arguments.threads
        server = Server(settings)
        address = server.listening_address
    except Exception as error:
        return _say({"error": f"{type(error).__name__}: {error}"}, 4)
    _say({"address": address}, 0)
    sys.stdin.read()
    return 0


def _say(value: dict[str, str], code: int) -> int:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
