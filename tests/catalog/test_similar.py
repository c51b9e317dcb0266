"""Look-alikes: the measure, and the index that finds them."""

from hypothesis import given
from hypothesis import strategies as st

from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.similar import SIMILARITY_THRESHOLD, similar_pairs, similarity
from agent_reach.records.tool import Tool


def tool(name: str, description: str = "", parameters: str = "", server: str = "") -> Tool:
    schema = {"type": "object", "properties": {word: {} for word in parameters.split()}}
    return Tool(name=name, server=server, description=description, input_schema=schema)


TOOLS = [
    tool("git_status", "Shows the working tree status", "repo_path", "git"),
    tool("git_status", "Show the status of the working tree", "path", "other"),
    tool("update_stock", "更新某个仓库中商品的库存数量", "product_id quantity warehouse_id"),
    tool("update_stock_level", "更新仓库中商品的库存数量", "product_id quantity warehouse_id"),
    tool("send_mail", "Send a mail to a customer", "to subject body"),
    tool("forecast", "Weather of the next days for a city", "city days"),
]


def test_pairs() -> None:
    pairs = similar_pairs(TOOLS)
    assert {(pair.left, pair.right) for pair in pairs} == {
        ("git/git_status", "other/git_status"),
        ("update_stock", "update_stock_level"),
    }
    assert [pair.score for pair in pairs] == sorted((pair.score for pair in pairs), reverse=True)
    stock = next(pair for pair in pairs if pair.left == "update_stock")
    assert "level" in stock.right_only
    assert "update" in stock.shared_words or "updat" in stock.shared_words
    assert stock.parameter_score == 1.0


def test_a_pair_keeps_its_score_whatever_else_is_there() -> None:
    alone = similar_pairs(TOOLS[:2])
    among = [
        pair for pair in similar_pairs(Catalog.from_tools(reversed(TOOLS))) if pair.left == alone[0].left
    ]
    assert among == list(alone)


def test_nothing_in_common() -> None:
    assert similarity(TOOLS[4], TOOLS[5]) < 0.2
    assert similar_pairs([]) == ()
    assert similar_pairs([tool("a"), tool("b")]) == ()


WORDS = st.lists(
    st.sampled_from(["get", "set", "list", "order", "stock", "user", "mail", "city", "day", "find"]),
    min_size=1,
    max_size=4,
)


@given(st.lists(st.tuples(WORDS, WORDS, WORDS), min_size=2, max_size=12))
def test_the_measure(rows: list[tuple[list[str], list[str], list[str]]]) -> None:
    tools = [
        tool("_".join(name) + f"_{index}x", " ".join(text), " ".join(parameters))
        for index, (name, text, parameters) in enumerate(rows)
    ]
    for first in tools:
        assert similarity(first, first) > 0.999
        for second in tools:
            score = similarity(first, second)
            assert 0.0 <= score <= 1.0
            assert score == similarity(second, first)
    found = {(pair.left, pair.right) for pair in similar_pairs(tools)}
    every = {
        tuple(sorted((first.key, second.key)))
        for index, first in enumerate(tools)
        for second in tools[index + 1 :]
        if similarity(first, second) >= SIMILARITY_THRESHOLD
    }
    assert found == every
