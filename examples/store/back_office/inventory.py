"""库存 / Inventory: written by the warehouse team, mostly in Chinese."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import find, next_id, store


@tool
def query_stock(product_id: str, warehouse_id: str | None = None) -> dict[str, Any]:
    """查询商品当前库存数量。用户问“还剩多少”“有没有货”时使用。

    Args:
        product_id: 商品编号，例如 PDT-1001
        warehouse_id: 仓库编号，例如 WH-SH-01；不填则返回库存最多的仓库

    Returns:
        product_id, warehouse_id 和 quantity（件数）
    """
    find("products", product_id)
    places = {place: left for (product, place), left in store()["stock"].items() if product == product_id}
    place = warehouse_id or max(places, key=lambda name: places[name])
    return {"product_id": product_id, "warehouse_id": place, "quantity": places.get(place, 0)}


@tool
def update_stock(product_id: str, warehouse_id: str, quantity: int, remark: str = "") -> dict[str, Any]:
    """把某仓库某商品的库存设置为指定数量（盘点或补货后直接改成最终数）。

    Args:
        product_id: 商品编号，例如 PDT-1001
        warehouse_id: 仓库编号，例如 WH-SH-01
        quantity: 设置后的库存件数
        remark: 备注
    """
    find("products", product_id)
    find("warehouses", warehouse_id)
    store()["stock"][(product_id, warehouse_id)] = quantity
    return {"product_id": product_id, "warehouse_id": warehouse_id, "quantity": quantity}


@tool
def adjust_inventory(product_id: str, warehouse_id: str, delta: int, reason: str = "") -> dict[str, Any]:
    """调整某仓库某商品的库存。

    Args:
        product_id: 商品编号
        warehouse_id: 仓库编号
        delta: 增减的件数，减少为负数
        reason: 原因
    """
    find("products", product_id)
    key = (product_id, warehouse_id)
    store()["stock"][key] = store()["stock"].get(key, 0) + delta
    return {"product_id": product_id, "warehouse_id": warehouse_id, "quantity": store()["stock"][key]}


@tool
def transfer_stock(product_id: str, from_warehouse: str, to_warehouse: str, quantity: int) -> dict[str, Any]:
    """在两个仓库之间调拨商品。用户说“从A仓调到B仓”时使用。

    Args:
        product_id: 商品编号，例如 PDT-1001
        from_warehouse: 调出仓库编号
        to_warehouse: 调入仓库编号
        quantity: 调拨件数
    """
    stock = store()["stock"]
    if stock.get((product_id, from_warehouse), 0) < quantity:
        raise ValueError(f"{from_warehouse} has fewer than {quantity} of {product_id}")
    stock[(product_id, from_warehouse)] -= quantity
    stock[(product_id, to_warehouse)] = stock.get((product_id, to_warehouse), 0) + quantity
    return {"transfer_id": next_id("TRF"), "product_id": product_id, "quantity": quantity}


@tool
def list_low_stock(threshold: int = 10) -> list[dict[str, Any]]:
    """列出库存低于阈值的商品与仓库。

    Args:
        threshold: 阈值件数，默认 10
    """
    return [
        {"product_id": product, "warehouse_id": place, "quantity": left}
        for (product, place), left in sorted(store()["stock"].items())
        if left < threshold
    ]


@tool
def list_warehouses(region: Literal["east", "south", "north"] | None = None) -> list[dict[str, Any]]:
    """列出所有仓库及其城市。

    Args:
        region: 大区：east 华东，south 华南，north 华北
    """
    rows = store()["warehouses"].values()
    return [dict(row) for row in rows if region is None or row["region"] == region]


@tool
def list_stock_movements(product_id: str) -> dict[str, Any]:
    """查询商品的出入库流水，结果较长。

    Args:
        product_id: 商品编号
    """
    find("products", product_id)
    lines = [
        {
            "line": number,
            "kind": "in" if number % 3 else "out",
            "quantity": 5 + number,
            "operator": f"OP-{number:03d}",
        }
        for number in range(1, 61)
    ]
    lines[41]["batch_id"] = f"BAT-{product_id[-4:]}-42"
    lines[41]["note"] = "受潮，待复检 / damp, to be re-inspected"
    return {"product_id": product_id, "movements": lines}


@tool
def recheck_batch(batch_id: str, inspector: str = "") -> dict[str, Any]:
    """对一个批次发起复检。

    Args:
        batch_id: 批次编号，例如 BAT-1001-42
        inspector: 质检员
    """
    return {"recheck_id": next_id("RCK"), "batch_id": batch_id, "status": "scheduled"}


@tool
def freeze_stock(product_id: str, warehouse_id: str, quantity: int) -> dict[str, Any]:
    """冻结一部分库存，使其不可售。

    Args:
        product_id: 商品编号
        warehouse_id: 仓库编号
        quantity: 冻结件数
    """
    return {
        "freeze_id": next_id("FRZ"),
        "product_id": product_id,
        "warehouse_id": warehouse_id,
        "quantity": quantity,
    }


@tool
def find_product(keyword: str) -> list[dict[str, Any]]:
    """按名称关键字查找商品，返回商品编号。用户只说商品名、没有编号时先用它。

    Args:
        keyword: 商品名里的词，中文或英文
    """
    word = keyword.lower()
    return [
        dict(row) for row in store()["products"].values() if word in row["name"] or word in row["name_en"]
    ]


@tool
def update_price(product_id: str, price: float) -> dict[str, Any]:
    """修改商品售价。

    Args:
        product_id: 商品编号
        price: 新售价，单位元
    """
    find("products", product_id)
    return {"product_id": product_id, "price": price}
