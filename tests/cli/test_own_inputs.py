"""No command writes over what it reads, and none takes a flag that it would not heed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_reach.cli.main import run_command_line

TOOLS = [
    {"name": name, "description": f"{name} it", "inputSchema": {"type": "object", "properties": {}}}
    for name in ("open_door", "close_gate", "print_letter")
]
SUITE = [
    {"id": tool["name"], "kind": "must", "query": tool["description"], "path": [{"tool": tool["name"]}]}
    for tool in TOOLS
]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": TOOLS}))
    more = [{"name": "wash_car", "description": "wash the car", "inputSchema": {"type": "object"}}]
    (tmp_path / "more.json").write_text(json.dumps({"tools": more}))
    for name in ("core.json", "practice.json", "loose.json"):
        (tmp_path / name).write_text(json.dumps(SUITE))
    (tmp_path / "overlay.yaml").write_text("tools:\n  open_door: {effect: write}\n")
    (tmp_path / "config.yaml").write_text(
        "catalog: tools.json\noverlay: overlay.yaml\nsuites: {core: core.json, practice: practice.json}\nagent: lexical\n"
    )
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The error of a command that exits with 2 and leaves every file, and no new one, behind."""
    before = contents(folder)
    assert run_command_line(list(arguments)) == 2
    assert contents(folder) == before
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


@pytest.mark.parametrize("flag", ["--csv", "--json-file", "--svg", "--html"])
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("config.yaml", "configuration"),
        ("core.json", "suite"),
        ("practice.json", "suite"),
        ("loose.json", "suite"),
        ("tools.json", "tool list"),
        ("overlay.yaml", "overlay"),
        ("more.json", "distractors"),
    ],
)
def test_a_sweep_writes_over_nothing_it_reads(folder, capsys, flag, name, what):
    command = ["sweep", "--suite", "loose.json", "--tools", "3", "--distractors", "more.json", "--quiet"]
    said = refused(folder, capsys, *command, flag, name)
    assert f"{flag} {name}: this is the {what}, and would be overwritten" in said
    assert not (folder / ".agent-reach").exists()


@pytest.mark.parametrize(("name", "what"), [("more.json", "catalog of --predict"), ("r.json", "report")])
def test_a_prediction_writes_over_nothing_it_reads(folder, capsys, name, what):
    assert run_command_line(["run", "--suite", "core", "--report", "r.json", "--quiet"]) == 0
    capsys.readouterr()
    command = ["sweep", "--predict", "more.json", "--report", "r.json", "--csv", name]
    assert f"this is the {what}" in refused(folder, capsys, *command)


def test_a_file_named_like_a_source_of_distractors_is_no_input(folder):
    (folder / "catalog").write_text("mine\n")
    command = ["sweep", "--suite", "core", "--tools", "3", "--quiet", "--csv", "catalog"]
    assert run_command_line(command) == 0
    assert (folder / "catalog").read_text().startswith("axis")


@pytest.mark.parametrize("target", ["nan", "NaN", "-nan"])
def test_a_target_that_is_no_number_is_refused(folder, capsys, target):
    command = ["sweep", "--suite", "core", "--tools", "3", f"--target={target}", "--quiet"]
    assert "--target" in refused(folder, capsys, *command)


@pytest.mark.parametrize("flag", ["--output", "--markdown", "--json-file"])
@pytest.mark.parametrize(
    "name", ["config.yaml", "core.json", "practice.json", "loose.json", "tools.json", "overlay.yaml"]
)
def test_tune_never_writes_a_source_of_its_run(folder, capsys, flag, name):
    command = ["tune", "--suite", "loose.json", "--quiet", "--force", flag, name]
    assert "would be overwritten" in refused(folder, capsys, *command)


def test_tune_gives_each_output_a_file_of_its_own(folder, capsys):
    command = ["tune", "--suite", "core", "--quiet", "--output", "new.yaml", "--markdown", "new.yaml"]
    assert "--output names the same file" in refused(folder, capsys, *command)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("core.json", ["--suite", "core"]),
        ("loose.json", ["--suite", "loose.json"]),
        ("overlay.yaml", ["--overlay", "overlay.yaml"]),
        ("overlay.yaml", []),
        ("more.json", ["--catalog", "more.json"]),
        ("tools.json", []),
        ("config.yaml", []),
    ],
)
def test_a_draft_writes_over_nothing_it_reads(folder, capsys, name, given):
    command = ["suite", "draft", *given, "--output", name, "--force"]
    assert "would be overwritten" in refused(folder, capsys, *command)


def test_a_draft_may_be_made_anew_over_a_suite_it_does_not_read(folder):
    command = ["suite", "draft", "--suite", "core", "--output", "practice.yaml", "--force"]
    (folder / "practice.yaml").write_text("tasks: []\n")
    assert run_command_line(command) == 0
    assert (folder / "practice.yaml").read_text() != "tasks: []\n"


@pytest.mark.parametrize("by_id", [False, True])
def test_a_proof_is_not_written_over_its_report(folder, capsys, by_id):
    assert run_command_line(["run", "--suite", "core", "--report", "r.json", "--quiet"]) == 0
    capsys.readouterr()
    archived = next((folder / ".agent-reach" / "runs").glob("*/report.json"))
    kept = archived.read_bytes()
    report, target = (archived.parent.name, str(archived)) if by_id else ("r.json", "r.json")
    said = refused(folder, capsys, "explain", report, "open_door", "--prove", "--output", target)
    assert "this is the report" in said
    assert archived.read_bytes() == kept


@pytest.mark.parametrize(
    "idle",
    [
        ["--dry-run"],
        ["--output", "proved.json"],
        ["--prove-attempts", "10"],
        ["--budget", "5"],
        ["--all-causes"],
        ["--resume"],
        ["--suite", "core"],
        ["--config", "config.yaml"],
    ],
)
def test_flags_of_a_proof_ask_for_prove_in_explain(folder, capsys, idle):
    assert run_command_line(["run", "--suite", "core", "--report", "r.json", "--quiet"]) == 0
    capsys.readouterr()
    said = refused(folder, capsys, "explain", "r.json", "open_door", *idle)
    assert f"{idle[0]}: this does nothing without --prove" in said
    assert "add --prove" in said
    assert run_command_line(["explain", "r.json", "open_door"]) == 0


@pytest.mark.parametrize(
    "idle", [["--prove-attempts", "10"], ["--prove-budget", "5"], ["--prove-all-causes"]]
)
def test_flags_of_a_proof_ask_for_prove_in_run(folder, capsys, idle):
    said = refused(folder, capsys, "run", "--suite", "core", "--quiet", *idle)
    assert f"{idle[0]}: this does nothing without --prove" in said
    assert not (folder / ".agent-reach").exists()


def test_map_export_diff_and_promote_keep_what_they_read(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    map_ = ("map", "tools.json", "--overlay", "overlay.yaml", "--output")
    assert "this is the tool list" in refused(folder, capsys, *map_, "tools.json")
    assert "this is the overlay" in refused(folder, capsys, *map_, "overlay.yaml")
    export = ("suite", "export", "core", "--config", "config.yaml", "--force", "--output")
    for name, what in (("core.json", "suite"), ("overlay.yaml", "overlay"), ("config.yaml", "configuration")):
        assert f"this is the {what}" in refused(folder, capsys, *export, name)
    assert run_command_line(["run", "--suite", "core", "--report", "report.json", "--quiet"]) == 0
    capsys.readouterr()
    assert "this is the report" in refused(
        folder, capsys, "baseline", "promote", "report.json", "--to", "report.json"
    )
    assert run_command_line(["baseline", "promote", "report.json", "--to", "baseline.json"]) == 0
    capsys.readouterr()
    compared = ("diff", "--baseline", "baseline.json", "--current", "report.json", "--markdown")
    assert "this is the baseline" in refused(folder, capsys, *compared, "baseline.json")
    assert "this is the current report" in refused(folder, capsys, *compared, "report.json")
    assert run_command_line(["traces", "import", "report.json", "--store", "t.db"]) in (0, 2)
    capsys.readouterr()
    if (folder / "t.db").is_file():
        assert "this is the trace store" in refused(
            folder, capsys, "traces", "export", "--store", "t.db", "--output", "t.db"
        )
