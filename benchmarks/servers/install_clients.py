"""Install the two official TypeScript clients of the protocol into a folder of their own.

    python benchmarks/servers/install_clients.py FOLDER

FOLDER defaults to AGENT_REACH_NODE. `@modelcontextprotocol/sdk` speaks the older era, `@modelcontextprotocol/client` the
current one; the peer tests of the gateway drive it with both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

PACKAGES = ("@modelcontextprotocol/sdk", "@modelcontextprotocol/client")


def main() -> int:
    """Install what is missing; 1 where npm is not there."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", nargs="?", default=os.environ.get("AGENT_REACH_NODE"))
    options = parser.parse_args()
    if not options.folder:
        parser.error("name a folder, or set AGENT_REACH_NODE")
    npm = shutil.which("npm")
    if npm is None:
        print("npm is not installed", file=sys.stderr)
        return 1
    folder = Path(options.folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "package.json").exists():
        (folder / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    missing = [name for name in PACKAGES if not (folder / "node_modules" / name).is_dir()]
    if missing:
        flags = ["--no-fund", "--no-audit", "--loglevel=error", "--prefix", str(folder)]
        subprocess.run([npm, "install", *flags, *missing], check=True)
    print(f"{len(PACKAGES)} clients in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
