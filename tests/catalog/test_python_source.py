"""Python functions as tools: signatures, docstrings, types, modules."""

import enum
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict

import pydantic
import pytest

from agent_reach import tool as public_tool
from agent_reach.catalog.catalog import Catalog
from agent_reach.catalog.schema import argument_problems, is_legal, output_problems
from agent_reach.catalog.sources.docstrings import parse_docstring
from agent_reach.catalog.sources.python import python_tools, tool
from agent_reach.errors import CatalogError


class Level(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Place(TypedDict):
    street: str
    zip: NotRequired[int]


@dataclass
class Item:
    """One line of an order."""

    sku: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


@dataclass
class Order:
    id: str
    items: list[Item]
    parent: Optional["Order"] = None


class Customer(pydantic.BaseModel):
    name: str
    age: int | None = pydantic.Field(default=None, ge=0, description="Age in years.")
    friends: list["Customer"] = []


class Point(NamedTuple):
    x: float
    y: float


OrderId = NewType("OrderId", str)


@tool
def place_order(
    order: Order,
    where: Place,
    who: Customer,
    level: Level = Level.LOW,
    mode: Literal["fast", "slow"] = "fast",
    days: Annotated[int, pydantic.Field(ge=1, le=30, description="Days to keep it.")] = 7,
    note: Annotated[str, "Text for the driver."] = "",
    ids: Sequence[OrderId] | None = None,
    weights: Mapping[str, float] | None = None,
    at: Point | None = None,
    when: date | datetime | None = None,
    *,
    schema: str = "plain",
    anything: Any = None,
) -> list[Order]:
    """Place an order for a customer.

    Use when the customer has confirmed.

    Args:
        order: The order,
            with its items.
        where (Place): Where to.
        level: How urgent.

    Returns:
        The orders that were made.
    """
    return [order]


def loaded(function: Any) -> Any:
    (made,) = Catalog.load([function]).tools
    return made


def test_the_decorated_function_stays_what_it_was() -> None:
    order = Order("1", [])
    assert place_order(order, {"street": "s"}, Customer(name="n")) == [order]
    assert place_order.__name__ == "place_order"
    assert public_tool is tool


def test_signature_and_docstring_become_schemas() -> None:
    catalog = Catalog.load([place_order])
    (made,) = catalog.tools
    assert catalog.findings == ()
    assert made.description == "Place an order for a customer.\n\nUse when the customer has confirmed."
    assert made.required == ("order", "where", "who")
    properties = made.parameters
    assert properties["order"] == {"$ref": "#/$defs/Order", "description": "The order, with its items."}
    assert properties["level"] == {
        "type": "string",
        "enum": ["low", "high"],
        "description": "How urgent.",
        "default": "low",
    }
    assert properties["mode"] == {"type": "string", "enum": ["fast", "slow"], "default": "fast"}
    assert properties["days"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 30,
        "description": "Days to keep it.",
        "default": 7,
    }
    assert properties["note"] == {"type": "string", "description": "Text for the driver.", "default": ""}
    assert properties["schema"] == {"type": "string", "default": "plain"}
    assert properties["anything"] == {"default": None}
    definitions = made.input_schema["$defs"]
    assert definitions["Item"]["description"] == "One line of an order."
    assert definitions["Place"]["required"] == ["street"]
    assert made.output_schema is not None
    assert made.output_schema["items"] == {"$ref": "#/$defs/Order"}
    assert made.output_schema["description"] == "The orders that were made."
    json.dumps(made.input_schema)


def test_the_schemas_judge_rightly() -> None:
    made = loaded(place_order)
    good = {
        "order": {"id": "1", "items": [{"sku": "a"}], "parent": {"id": "0", "items": []}},
        "where": {"street": "s", "zip": 5},
        "who": {"name": "n", "friends": [{"name": "m", "age": 3}]},
        "ids": ["a"],
        "weights": {"a": 1.5},
        "at": [1, 2],
        "when": "2024-03-01",
    }
    assert argument_problems(made, good) == ()
    bad = {
        **good,
        "days": 31,
        "level": "mid",
        "at": [1],
        "weights": {"a": "x"},
        "who": {"name": "n", "age": -1},
    }
    bad["order"] = {"id": "1", "items": [{"count": 2}]}
    assert {(problem.code, problem.pointer) for problem in argument_problems(made, bad)} == {
        ("out_of_range", "/days"),
        ("not_in_enum", "/level"),
        ("out_of_range", "/at"),
        ("wrong_type", "/weights/a"),
        ("out_of_range", "/who/age"),
        ("missing_required", "/order/items/0/sku"),
    }
    assert output_problems(made, [{"id": "1", "items": []}]) == ()
    assert output_problems(made, [{"id": 1, "items": []}])


def test_options_of_the_decorator() -> None:
    @tool(
        name="stock.look",
        server="store",
        effect="read",
        summary="Look up stock.",
        triggers=["还有多少", "how many are left"],
        param_hints={"sku": {"names": ["article"], "example": "PDT-1"}},
        conflicts={"update_stock": "changes it"},
        needs={"env": ["STORE_KEY"], "scopes": ["stock:read"]},
        aliases=["look_stock"],
        partitions=["manual"],
    )
    async def look(sku: str) -> int:
        """Look."""
        return 1

    made = loaded(look)
    assert made.key == "store/stock.look"
    assert made.is_read_only
    assert made.note is not None
    assert made.note.summary == "Look up stock."
    assert made.note.param_hints["sku"].names == ("article",)
    assert made.needs.env == ("STORE_KEY",)
    assert made.aliases == ("look_stock",)
    assert made.output_schema == {"type": "integer"}
    with pytest.raises(CatalogError, match="no effect"):
        tool(effect="reads")


STYLES = {
    "google": "Sum.\n\nArgs:\n    a (int): First: one.\n    b (list[str], optional): Second,\n        more.\n    **more: Rest.\n\nReturns:\n    float: The sum.\n\nRaises:\n    ValueError: Never.",
    "numpy": "Sum.\n\nParameters\n----------\na : int\n    First: one.\nb : list[str], optional\n    Second,\n    more.\n\nReturns\n-------\nfloat\n    The sum.\n\nNotes\n-----\nNone.",
    "rest": "Sum.\n\n:param a: First: one.\n:type a: int\n:param list[str] b: Second,\n    more.\n:raises ValueError: never\n:returns: The sum.\n:rtype: float",
}


@pytest.mark.parametrize("style", STYLES)
def test_docstring_styles(style: str) -> None:
    parsed = parse_docstring(STYLES[style])
    assert parsed.description == "Sum."
    assert parsed.parameters["a"] == "First: one."
    assert parsed.parameters["b"] == "Second, more."
    assert parsed.types["a"] == "int"
    assert parsed.types["b"] == "list[str]"
    assert (parsed.returns, parsed.return_type) == ("The sum.", "float")


def test_a_docstring_counts_where_the_signature_is_silent() -> None:
    def add(a, b=None, c=2.5, *rest, **more):  # type: ignore[no-untyped-def]
        return a

    add.__doc__ = STYLES["numpy"]
    made = loaded(add)
    assert made.parameters["a"] == {"type": "integer", "description": "First: one."}
    assert made.parameters["b"]["type"] == "array"
    assert made.parameters["c"] == {"type": "number", "default": 2.5}
    assert made.input_schema["additionalProperties"] is True
    assert made.output_schema == {"type": "number", "description": "The sum."}


def test_callables_of_other_kinds() -> None:
    class Counter:
        """Counts."""

        def __call__(self, step: int) -> int:
            """Count on."""
            return step

        @tool(name="bound")
        def method(self, text: str) -> None:
            """A method."""

    def base(a: int, b: str) -> None:
        """Base."""

    tools, handlers = python_tools([Counter(), Counter().method, partial(base, 1)])
    assert [made.name for made in tools] == ["Counter", "bound", "base"]
    assert list(tools[0].parameters) == ["step"]
    assert list(tools[1].parameters) == ["text"]
    assert tools[1].output_schema is None
    assert tools[2].required == ("b",)
    assert handlers["Counter"](4) == 4


def test_a_type_that_no_schema_expresses_is_told() -> None:
    class Strange:
        pass

    def use(a: Strange, b: int, c: "Missing") -> Iterable[Strange]:  # type: ignore[name-defined]  # noqa: F821
        """Use."""
        return []

    catalog = Catalog.load([use])
    assert {(item.code, item.pointer) for item in catalog.findings} == {
        ("python_type_unknown", "/properties/a"),
        ("python_type_unknown", "/properties/c"),
        ("python_type_unknown", "/returns"),
    }
    assert is_legal(catalog.tools[0], {"a": 1, "b": 2, "c": None})
    assert not is_legal(catalog.tools[0], {"a": 1, "b": "x", "c": None})


def test_objects_in_the_manner_of_langchain() -> None:
    class Search(pydantic.BaseModel):
        query: str

    class Fake:
        name = "search"
        description = "Search the web."
        args_schema = Search

    made = loaded(Fake())
    assert made.name == "search"
    assert made.required == ("query",)


def test_modules_packages_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "shop_of_tests"
    (package / "inner").mkdir(parents=True)
    head = "from agent_reach import tool\n"
    (package / "__init__.py").write_text(head + "@tool\ndef one(): 'One.'\n")
    (package / "inner" / "__init__.py").write_text("")
    (package / "inner" / "more.py").write_text(
        head + "from shop_of_tests import one\n@tool\ndef two(a: int): 'Two.'\ndef three(): 'No tool.'\n"
    )
    (package / "empty.py").write_text("x = 1\n")
    (package / "broken.py.txt").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert [made.name for made in Catalog.load("shop_of_tests")] == ["one", "two"]
    assert [made.name for made in Catalog.load("shop_of_tests.inner.more:two")] == ["two"]
    assert {made.name for made in Catalog.load(package / "inner" / "more.py")} == {"one", "two"}
    assert [made.name for made in Catalog.load(sys.modules["shop_of_tests"])] == ["one", "two"]
    tools, handlers = python_tools("shop_of_tests")
    assert set(handlers) == {"one", "two"}
    for source, words in {
        "shop_of_tests.empty": "no function here is marked",
        "shop_of_tests.nothing": "no module",
        "shop_of_tests:absent": "has no 'absent'",
    }.items():
        with pytest.raises(CatalogError, match=words):
            Catalog.load(source)
    (package / "fails.py").write_text("import no_such_thing_at_all\n")
    with pytest.raises(CatalogError, match="needs 'no_such_thing_at_all'"):
        Catalog.load("shop_of_tests.fails")
    assert len(tools) == 2
