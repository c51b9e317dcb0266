"""Files appear whole or not at all, and never in the place of a device, a pipe or a link."""

from __future__ import annotations

import os
import threading

import pytest

from agent_reach.config.whole_file import write_whole_file
from agent_reach.errors import InputError


def test_pieces_become_one_file_and_replace_an_old_one(tmp_path):
    path = tmp_path / "deep" / "report.json"
    write_whole_file(path, ["a", "b\n"])
    write_whole_file(path, iter(["查", "\ud800"]))
    assert path.read_text(encoding="utf-8") == "查\\ud800"
    assert [item.name for item in path.parent.iterdir()] == ["report.json"]


def test_what_breaks_in_the_middle_leaves_the_old_file(tmp_path):
    path = tmp_path / "report.json"
    write_whole_file(path, ["old"])

    def pieces():
        yield "new"
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_whole_file(path, pieces())
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(("private", "mode"), [(False, 0o644), (True, 0o600)])
def test_who_may_read_the_file(tmp_path, private, mode):
    path = tmp_path / "lists" / "kept.json"
    write_whole_file(path, ["x"], private=private)
    write_whole_file(path, ["y"], private=private)
    assert path.read_text(encoding="utf-8") == "y"
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_whole_file(tmp_path / "link.json", ["new"])
    assert (tmp_path / "link.json").is_symlink()
    assert (tmp_path / "real.json").read_text(encoding="utf-8") == "new"


def test_a_pipe_is_written_and_stays(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write_whole_file(pipe, ["through"])
    reader.join(10)
    assert got == ["through"]
    assert pipe.is_fifo()


@pytest.mark.parametrize("name", [".", "a" * 400, "report.json/inside", "nul\x00byte"])
def test_what_cannot_be_written_is_an_input_error(tmp_path, name):
    (tmp_path / "report.json").write_text("x", encoding="utf-8")
    with pytest.raises(InputError):
        write_whole_file(tmp_path / name, ["x"])
