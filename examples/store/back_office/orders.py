"""Orders: written by the shop team, in English."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import find, next_id, store


@tool
def create_order(
    customer_id: str, product_id: str, quantity: int, coupon_code: str | None = None
) -> dict[str, Any]:
    """Create an order for a customer. Use when the user wants to buy or place an order.

    Args:
        customer_id: Customer id, for example CUS-201
        product_id: Product id, for example PDT-1001
        quantity: Number of pieces
        coupon_code: Coupon to apply, for example CPN-50
    """
    find("customers", customer_id)
    product = find("products", product_id)
    order_id = next_id("ORD")
    order = {
        "order_id": order_id,
        "customer_id": customer_id,
        "product_id": product_id,
        "quantity": quantity,
        "amount": product["price"] * quantity,
        "status": "pending",
        "created": "2025-12-10",
    }
    store()["orders"][order_id] = order
    return dict(order)


@tool
def query_order(order_id: str) -> dict[str, Any]:
    """Get one order by its id. Use when the user gives an order number.

    Args:
        order_id: Order id, for example ORD-7001
    """
    return find("orders", order_id)


@tool
def search_orders(
    customer_id: str | None = None,
    status: Literal["pending", "paid", "shipped", "delivered", "cancelled"] | None = None,
) -> list[dict[str, Any]]:
    """Find orders by customer or status when no order number is known.

    Args:
        customer_id: Customer id, for example CUS-201
        status: Order status
    """
    rows = store()["orders"].values()
    return [
        dict(row)
        for row in rows
        if (customer_id is None or row["customer_id"] == customer_id)
        and (status is None or row["status"] == status)
    ]


@tool
def cancel_order(order_id: str, reason: str = "") -> dict[str, Any]:
    """Cancel an order that has not been shipped. Use when the user no longer wants it.

    Args:
        order_id: Order id, for example ORD-7001
        reason: Why it is cancelled
    """
    order = find("orders", order_id)
    if order["status"] in ("shipped", "delivered"):
        raise ValueError(f"{order_id} is already {order['status']}")
    store()["orders"][order_id]["status"] = "cancelled"
    return {"order_id": order_id, "status": "cancelled"}


@tool
def close_order(order_id: str) -> dict[str, Any]:
    """Close an order.

    Args:
        order_id: Order id
    """
    find("orders", order_id)
    return {"order_id": order_id, "status": "closed"}


@tool
def refund_order(order_id: str, amount: float | None = None, reason: str = "") -> dict[str, Any]:
    """Give money back for an order, without goods coming back. Use for refunds.

    Args:
        order_id: Order id, for example ORD-7001
        amount: Amount in yuan; the whole order if left out
        reason: Why
    """
    order = find("orders", order_id)
    return {
        "refund_id": next_id("RFD"),
        "order_id": order_id,
        "amount": amount or order["amount"],
        "status": "requested",
    }


@tool
def return_order(order_id: str, reason: str = "") -> dict[str, Any]:
    """Start a return: the goods come back to the warehouse. Use when the user wants to send something back.

    Args:
        order_id: Order id
        reason: Why
    """
    find("orders", order_id)
    return {"return_id": next_id("RTN"), "order_id": order_id, "status": "label_sent"}


@tool
def approve_refund(refund_id: str) -> dict[str, Any]:
    """Approve a requested refund. Needs the finance permission.

    Args:
        refund_id: Refund id, for example RFD-8002
    """
    return {"refund_id": refund_id, "status": "approved"}


@tool
def change_order_address(order_id: str, address: str) -> dict[str, Any]:
    """Change the delivery address of an order before it is shipped.

    Args:
        order_id: Order id
        address: New address as one line
    """
    find("orders", order_id)
    return {"order_id": order_id, "address": address}


@tool
def split_order(order_id: str, parts: int) -> dict[str, Any]:
    """Split an order into several deliveries.

    Args:
        order_id: Order id
        parts: Number of deliveries
    """
    find("orders", order_id)
    return {"order_id": order_id, "parts": [f"{order_id}-{number}" for number in range(1, parts + 1)]}


@tool
def add_order_note(order_id: str, text: str) -> dict[str, Any]:
    """Write an internal note on an order.

    Args:
        order_id: Order id
        text: The note
    """
    find("orders", order_id)
    return {"note_id": next_id("NTE"), "order_id": order_id}


@tool
def export_orders(period: str, file_format: Literal["csv", "xlsx"] = "csv") -> dict[str, Any]:
    """Export the orders of a period to a file.

    Args:
        period: The period
        file_format: Kind of file
    """
    return {"file": f"orders-{period}.{file_format}", "rows": len(store()["orders"])}
