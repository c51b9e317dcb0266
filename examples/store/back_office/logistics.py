"""物流 / Logistics: two generations of the same tools, in both languages."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import find, next_id, store


@tool
def ship_order(
    order_id: str, carrier: Literal["SF", "JD", "YTO", "EMS"], express: bool = False
) -> dict[str, Any]:
    """给订单发货并生成运单号。用户说“发货”“寄出”时使用。

    Args:
        order_id: 订单编号，例如 ORD-7001
        carrier: 承运商代码
        express: 是否加急
    """
    find("orders", order_id)
    return {
        "shipment_id": next_id("SHP"),
        "order_id": order_id,
        "carrier": carrier,
        "tracking_number": f"{carrier}00112233",
    }


@tool
def create_shipment(reference: str, carrier: str, weight: float) -> dict[str, Any]:
    """Create a shipment record (older interface, kept for bulk freight).

    Args:
        reference: Freight reference
        carrier: Carrier
        weight: Weight
    """
    return {"shipment_id": next_id("SHP"), "reference": reference}


@tool
def track_shipment(tracking_number: str) -> dict[str, Any]:
    """Track a parcel by its tracking number.

    Args:
        tracking_number: Tracking number printed on the label, for example SF10293847
    """
    for row in store()["shipments"].values():
        if row["tracking_number"] == tracking_number:
            return dict(row)
    raise LookupError(f"no shipment with tracking number {tracking_number!r}")


@tool
def get_shipment_by_order(order_id: str) -> dict[str, Any]:
    """按订单编号查运单，返回承运商和运单号。用户只给了订单号、问“快递单号”时使用。

    Args:
        order_id: 订单编号，例如 ORD-7002
    """
    for row in store()["shipments"].values():
        if row["order_id"] == order_id:
            return dict(row)
    raise LookupError(f"no shipment for order {order_id!r}")


@tool
def cancel_shipment(shipment_id: str) -> dict[str, Any]:
    """Stop a shipment that has not left yet.

    Args:
        shipment_id: Shipment id, for example SHP-9001
    """
    find("shipments", shipment_id)
    return {"shipment_id": shipment_id, "status": "cancelled"}


@tool
def estimate_freight(
    weight: float,
    destination: str,
    carrier: Literal["SF", "JD", "YTO", "EMS"] = "SF",
) -> dict[str, Any]:
    """估算运费。

    Args:
        weight: 重量
        destination: 目的地城市
        carrier: 承运商代码
    """
    return {"destination": destination, "carrier": carrier, "freight": round(8 + 2.5 * weight, 2)}


@tool
def schedule_pickup(order_id: str, date: str) -> dict[str, Any]:
    """Book a courier to pick up a return at the customer's home.

    Args:
        order_id: Order id
        date: Pick-up day
    """
    find("orders", order_id)
    return {"pickup_id": next_id("PCK"), "order_id": order_id, "date": date}


@tool
def report_lost_parcel(tracking_number: str, description: str = "") -> dict[str, Any]:
    """登记丢件。用户说“快递丢了”时使用。

    Args:
        tracking_number: 运单号
        description: 情况说明
    """
    return {"claim_id": next_id("CLM"), "tracking_number": tracking_number}


@tool
def print_label(shipment_id: str) -> dict[str, Any]:
    """Print the label of a shipment.

    Args:
        shipment_id: Shipment id
    """
    find("shipments", shipment_id)
    return {"shipment_id": shipment_id, "file": f"{shipment_id}.pdf"}
