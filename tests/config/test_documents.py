"""YAML 1.2 scalars, JSON, lines, and every way in which a file can be broken."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.config.documents import (
    parse_json,
    parse_json_lines,
    parse_yaml,
    read_document,
    yaml_scalar,
)
from agent_reach.errors import ConfigError, SuiteError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("Off", "Off"),
        ("y", "y"),
        ("2024-03-01", "2024-03-01"),
        ("2024-03-01T10:00:00+08:00", "2024-03-01T10:00:00+08:00"),
        ("12:30", "12:30"),
        ("1:30:00", "1:30:00"),
        ("0o7", 7),
        ("010", 10),
        ("-07", -7),
        ("0x1F", 31),
        ("0b11", "0b11"),
        ("1_000", "1_000"),
        ("1,000", "1,000"),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("-1.5E-2", -0.015),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("inf", "inf"),
        ("nan", "nan"),
        ("true", True),
        ("FALSE", False),
        ("tRue", "tRue"),
        ("null", None),
        ("~", None),
        ("Null", None),
        ("none", "none"),
        ("None", "None"),
        ("=", "="),
        ("1.2.3", "1.2.3"),
        ("+12", 12),
    ],
)
def test_plain_scalars_mean_what_yaml_1_2_says(text: str, value: object) -> None:
    assert yaml_scalar(text) == value
    assert type(yaml_scalar(text)) is type(value)
    assert parse_yaml(f"key: {text}\nlist:\n  - {text}").value == {"key": value, "list": [value]}


def test_quotes_tags_blocks_and_keys() -> None:
    found = parse_yaml(
        "a: '5'\nb: !!str 5\nc: !!int '5'\nd: !!float 5\ne: |\n  no\n1: one\ntrue: yes\n2024-01-01: day\nf:\n"
    ).value
    assert found == {
        "a": "5",
        "b": "5",
        "c": 5,
        "d": 5.0,
        "e": "no\n",
        "1": "one",
        "true": "yes",
        "2024-01-01": "day",
        "f": None,
    }


def test_anchors_and_merge_keys() -> None:
    found = parse_yaml(
        "base: &b {x: 1, y: 2}\none: {<<: *b, y: 3}\ntwo: {<<: [*b, {z: 4}]}\nplain: {'<<': 5}"
    ).value
    assert found["one"] == {"x": 1, "y": 3}
    assert found["two"] == {"x": 1, "y": 2, "z": 4}
    assert found["plain"] == {"<<": 5}


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("a: 1\nb: [1, 2\n", "f.yaml:3:1", "not valid YAML"),
        ("a: 1\na: 2\n", "f.yaml:2", "'a' is written twice (first in line 1)"),
        ("a:\n\tb: 1\n", "f.yaml:2:1", "not valid YAML"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1", "single document"),
        ("a: !!python/object:os.system x\n", "f.yaml:1", "tag '!!python/object:os.system' is not allowed"),
        ("a: 1\nb: !custom {x: 1}\n", "f.yaml:2", "tag '!custom' is not allowed"),
        ("a: !!int x\n", "f.yaml:1", "'x' is not 'int'"),
        ("a: &x [*x]\n", "f.yaml:1", "contains itself"),
        ("? [1, 2]\n: x\n", "f.yaml:1", "a key must be one word"),
        ("a: \x01\n", "f.yaml:1", "control characters"),
        ("a: *missing\n", "f.yaml:1:4", "undefined alias"),
        ("a: " + "9" * 5000 + "\n", "f.yaml:1", "too long"),
    ],
)
def test_broken_yaml_is_told_with_its_place(text: str, place: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_yaml(text, "f.yaml")
    assert caught.value.where == place
    assert said in str(caught.value)
    assert caught.value.next_step


def test_a_bomb_of_aliases_and_deep_nesting_end_in_an_error() -> None:
    bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"
        for before, name in zip("abcdefg", "bcdefgh", strict=True)
    )
    with pytest.raises(ConfigError, match="unfold to far more"):
        parse_yaml(bomb, "bomb.yaml")
    inside = "a: &a [1, *a]\n"
    with pytest.raises(ConfigError, match="contains itself"):
        parse_yaml(inside, "inside.yaml")
    honest = "base: &base {x: 1, y: 2}\n" + "".join(f"k{number}: *base\n" for number in range(2000))
    assert parse_yaml(honest, "honest.yaml").value["k1999"] == {"x": 1, "y": 2}
    for deep in ("[" * 5000, "- " * 5000 + "x", "[" * 500 + "]" * 500):
        with pytest.raises(ConfigError):
            parse_yaml(deep, "deep.yaml")
    with pytest.raises(ConfigError, match="too deeply"):
        parse_json("[" * 200_000, "deep.json")


def test_lines_of_parts() -> None:
    document = parse_yaml("a: 1\nb:\n  - x\n  - c: 5\n    d: [1,\n      2]\n", "f.yaml")
    assert document.where(("a",)) == "f.yaml:1"
    assert document.where(("b", 1, "c")) == "f.yaml:4"
    assert document.where(("b", 1, "d", 1)) == "f.yaml:6"
    assert document.where(("b", 1, "nothing")) == "f.yaml:4"
    listed = parse_json('{\n "tasks": [\n  {"id": 1},\n\n  {"id": 2}]}', "f.json")
    assert listed.where(("tasks", 1, "id")) == "f.json:5"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "f.json:1:9"),
        ('{"a": 1, "a": 2}', "'a' is written twice"),
        ('{"a": NaN}', "must be finite"),
        ("[1, -Infinity]", "must be finite"),
        ('{\n "a": 1,\n "b": {\n "c": NaN}}', "f.json:4"),
        ('{\n "a": 1,\n "b": {},\n "a": 2}', "f.json:4"),
        ("", "f.json:1:1"),
        ('{"a": ' + "1" * 5000 + "}", "not valid JSON"),
    ],
)
def test_broken_json(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_json(text, "f.json")
    assert said in str(caught.value)


def test_json_lines_name_every_broken_line() -> None:
    with pytest.raises(SuiteError) as caught:
        parse_json_lines('{"a": 1}\n\n{"b": \n{"c": 2}\nxyz\n', "s.jsonl", error=SuiteError)
    assert "s.jsonl:3:" in str(caught.value)
    assert "s.jsonl:5:" in str(caught.value)
    kept = parse_json_lines('{"a": "x\u2028y"}\r\n\n{"b": 1}', "s.jsonl")
    assert kept.value == [{"a": "x\u2028y"}, {"b": 1}]
    assert kept.line((1, "b")) == 3


def test_encodings(tmp_path: Path) -> None:
    for name, data in {
        "plain.yaml": "a: 上海".encode(),
        "mark.yaml": "\ufeffa: 上海".encode(),
        "wide.yaml": "a: 上海".encode("utf-16"),
    }.items():
        (tmp_path / name).write_bytes(data)
        assert read_document(tmp_path / name).value == {"a": "上海"}
    (tmp_path / "bad.yaml").write_bytes("a: 1\nb: 上海\n".encode("gbk"))
    with pytest.raises(ConfigError) as caught:
        read_document(tmp_path / "bad.yaml")
    assert caught.value.where.endswith("bad.yaml:2")
    with pytest.raises(ConfigError) as missing:
        read_document(tmp_path / "plane.yaml")
    assert "plain.yaml" in missing.value.next_step


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_read_as_json_is_itself(value: object) -> None:
    assert parse_json(json.dumps(value)).value == value


@given(
    st.dictionaries(
        st.text(st.characters(min_codepoint=32, max_codepoint=126)), st.integers() | st.booleans() | st.none()
    )
)
def test_what_a_yaml_1_1_writer_quotes_reads_back(value: dict[str, object]) -> None:
    assert parse_yaml(yaml.safe_dump(value)).value == value
