"""Pictures and pages: well formed, whole, never by colour alone, and there without Graphviz."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from agent_reach.catalog.catalog import Catalog
from agent_reach.cli.map_command import command as map_command
from agent_reach.cli.watch_command import command as watch_command
from agent_reach.config.settings import EnvironmentGrants
from agent_reach.errors import ConfigError, InputError
from agent_reach.graph.analysis import analyse
from agent_reach.graph.build import ToolGraph
from agent_reach.graph.options import GraphOptions
from agent_reach.graph.render.html import render_map_html
from agent_reach.graph.render.marks import picture
from agent_reach.graph.render.plain import to_dot, to_graphml, to_mermaid
from agent_reach.graph.render.svg import to_svg
from agent_reach.graph.render.text import map_lines

from .building import calls, record, tool  # type: ignore[import-not-found]

NASTY = '</script><b onclick="x">&"`\\'


@pytest.fixture
def graph():
    tools = [
        tool("list_parcels", output=record(parcel_id="string"), description=NASTY),
        tool("ship", {"parcel_id": "string"}), tool("alone"), tool("工具"),
    ]  # fmt: skip
    overlay = {"tools": {"ship": {"needs": {"scopes": ["ship:write"]}}}}
    trace = calls(("list_parcels", {}, {"parcel_id": "P-100"}), ("nope",), offered=("list_parcels", "ship"))
    return ToolGraph.build(Catalog.load(tools), [trace], overlay=overlay, grants=EnvironmentGrants(name="ci"))


def test_svg_is_well_formed_and_tells_the_reason(graph):
    for graphviz in (True, False):
        text = to_svg(picture(graph, analyse(graph)), graphviz=graphviz)
        ElementTree.fromstring(text)
        assert "scopes:ship:write" in text
        assert "工具" in text


def test_the_own_layout_draws_without_graphviz(graph, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert to_svg(picture(graph, analyse(graph))).startswith("<svg")


def test_a_time_limit_falls_back_to_the_own_layout(graph):
    assert 'class="n' in to_svg(picture(graph, analyse(graph)), time_limit=0.0001)


def test_other_forms(graph):
    drawn = picture(graph, analyse(graph))
    assert to_dot(drawn).startswith("digraph")
    assert to_mermaid(drawn).startswith("flowchart LR")
    root = ElementTree.fromstring(to_graphml(graph))
    assert len(root.findall(".//{*}node")) == len(graph.nodes)
    assert len(root.findall(".//{*}edge")) == len(graph.edges)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_and_safe(graph, language):
    page = render_map_html(graph, analyse(graph), language)
    assert NASTY not in page
    data = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S).group(1)
    )
    assert {node["id"] for node in data["nodes"]} == set(graph.nodes)
    assert "scopes:ship:write" in page
    assert "http://" not in page.replace("http://www.w3.org/2000/svg", "")
    assert ("可达性地图" in page) is (language == "zh")


def test_large_maps_are_folded_by_server():
    tools = [{**tool(f"t{number}"), "server": f"s{number % 5}"} for number in range(60)]
    catalog = Catalog.load({f"s{n}": [item for item in tools if item["server"] == f"s{n}"] for n in range(5)})
    graph = ToolGraph.build(catalog, options=GraphOptions(drawn=40))
    drawn = picture(graph, analyse(graph))
    assert drawn.folded
    assert sum(node.count for node in drawn.nodes if node.look == "folded") == 60
    assert len(drawn.nodes) < 10
    ElementTree.fromstring(to_svg(drawn, graphviz=False))


def test_text_speaks_both_languages(graph):
    english, chinese = (
        "\n".join(map_lines(graph, analyse(graph))),
        "\n".join(map_lines(graph, analyse(graph), "zh")),
    )
    assert "reach rate" in english
    assert "可达率" in chinese
    assert "nope" in english


def test_options_are_checked():
    with pytest.raises(ConfigError, match="unknown key 'trsut'"):
        GraphOptions.from_mapping({"trsut": "score"})
    with pytest.raises(ConfigError, match="from 0 to 1"):
        GraphOptions.from_mapping({"trust_above": 4})
    assert GraphOptions.from_mapping(
        {"weights": {"structural": 1, "planning": 0, "execution": 0}}
    ).weights == (1, 0, 0)


def test_the_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(json.dumps({"tools": [tool("a"), tool("b")]}))
    new.write_text(json.dumps({"tools": [tool("a"), tool("b"), tool("c")]}))
    run = CliRunner().invoke
    for form in ("text", "json", "dot", "svg", "mermaid", "graphml", "html"):
        done = run(map_command, [str(new), "--format", form], standalone_mode=False)
        assert done.exception is None, form
        assert done.stdout
    done = run(map_command, [str(old), "--json", "--output", "map.json"], standalone_mode=False)
    assert done.return_value == 0
    done = run(map_command, [str(new), "--compare", "map.json", "--json"], standalone_mode=False)
    assert (done.return_value, json.loads(done.stdout)["added_tools"]) == (0, ["c"])
    assert run(map_command, [str(old), "--compare", str(new)], standalone_mode=False).return_value == 0
    done = run(map_command, [str(old), "--compare", "missing.json"], standalone_mode=False)
    assert isinstance(done.exception, InputError)
    done = run(watch_command, [str(old), "--window", "7y"], standalone_mode=False)
    assert isinstance(done.exception, InputError)
