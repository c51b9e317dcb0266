"""What each attempt finds in its own folder: a Git repository, a database, text files, and a small knowledge graph.

`make` is the setup of every attempt (`config.yaml`); the servers start in the same folder afterwards. The content never
changes, dates of commits included, so that golden calls stay right.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from agent_reach.backends.isolation import AttemptPlace

NOTES = {
    "notes/plan.md": "# Plan for spring\n\n1. Count the stock\n2. New prices on 1 March\n3. Tell the suppliers\n",
    "notes/meeting.md": "# Meeting of 12 February\n\nLi Wei takes the price list. Anna calls the suppliers.\n",
    "notes/报价.txt": "保温杯 89 元\n机械键盘 399 元\n台灯 129 元\n",
    "logs/app.log": "".join(f"2026-02-{day:02d} 08:00 {day * 3} orders read\n" for day in range(1, 21)),
    "todo.txt": "call the printer\nrenew the domain\n",
}
TABLES = """
CREATE TABLE products (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL NOT NULL, stock INTEGER NOT NULL);
CREATE TABLE orders (id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL, quantity INTEGER NOT NULL, status TEXT NOT NULL);
INSERT INTO products VALUES (1, 'thermos', 89, 40), (2, 'keyboard', 399, 12), (3, 'lamp', 129, 3);
INSERT INTO orders VALUES (101, 1, 2, 'paid'), (102, 2, 1, 'shipped'), (103, 3, 1, 'paid');
"""
GRAPH = (
    {"type": "entity", "name": "Anna", "entityType": "person", "observations": ["calls the suppliers"]},
    {
        "type": "entity",
        "name": "Li Wei",
        "entityType": "person",
        "observations": ["speaks Chinese and English"],
    },
    {
        "type": "entity",
        "name": "Northwind",
        "entityType": "supplier",
        "observations": ["delivers on Tuesdays"],
    },
    {"type": "relation", "from": "Anna", "to": "Northwind", "relationType": "calls"},
)
COMMITS = (
    ("2026-02-02T09:00:00+08:00", "Add the price list", {"prices.csv": "thermos,89\nkeyboard,399\n"}),
    (
        "2026-02-09T09:00:00+08:00",
        "Raise the price of the lamp",
        {"prices.csv": "thermos,89\nkeyboard,399\nlamp,129\n"},
    ),
)


def make(place: AttemptPlace) -> None:
    """Fill the folder of an attempt."""
    folder = Path(place.folder)
    _files(folder)
    _repository(folder / "shop", dict(place.environment))
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        database.executescript(TABLES)
        database.commit()
    lines = "\n".join(json.dumps(line) for line in GRAPH)
    (folder / "memory.jsonl").write_text(lines, encoding="utf-8")


def _files(folder: Path) -> None:
    for name, text in NOTES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _repository(folder: Path, environment: dict[str, str]) -> None:
    """Two commits on `main`, a branch `prices-2025` at the first, one change that is staged and one that is not."""
    folder.mkdir()
    own = {
        **environment,
        "HOME": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
    }  # no settings of the person's own

    def git(*words: str, date: str = "") -> None:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        done = subprocess.run(
            ["git", *words], cwd=folder, capture_output=True, text=True, env={**own, **dates}
        )
        if done.returncode:
            raise RuntimeError(f"git {words[0]}: {done.stderr.strip()[-300:]}")

    git("init", "-q", "-b", "main")
    git("config", "user.name", "Shop")
    git("config", "user.email", "shop@example.org")
    for number, (date, message, files) in enumerate(COMMITS):
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8")
        git("add", ".")
        git("commit", "-q", "-m", message, date=date)
        if number == 0:
            git("branch", "prices-2025")
    (folder / "README.md").write_text("# Shop\n\nPrices of the shop.\n", encoding="utf-8")
    git("add", "README.md")
    (folder / "prices.csv").write_text("thermos,95\nkeyboard,399\nlamp,129\n", encoding="utf-8")
