"""The data of the shop, made anew for each attempt so that one attempt never sees the writes of another."""

from __future__ import annotations

import copy
from contextvars import ContextVar
from typing import Any

_START: dict[str, Any] = {
    "warehouses": {
        "WH-SH-01": {"warehouse_id": "WH-SH-01", "city": "上海", "city_en": "Shanghai", "region": "east"},
        "WH-GZ-02": {"warehouse_id": "WH-GZ-02", "city": "广州", "city_en": "Guangzhou", "region": "south"},
        "WH-BJ-03": {"warehouse_id": "WH-BJ-03", "city": "北京", "city_en": "Beijing", "region": "north"},
    },
    "products": {
        "PDT-1001": {
            "product_id": "PDT-1001",
            "name": "保温杯",
            "name_en": "thermos cup",
            "price": 89.0,
            "category": "kitchen",
        },
        "PDT-1002": {
            "product_id": "PDT-1002",
            "name": "机械键盘",
            "name_en": "mechanical keyboard",
            "price": 399.0,
            "category": "office",
        },
        "PDT-1003": {
            "product_id": "PDT-1003",
            "name": "人体工学椅",
            "name_en": "ergonomic chair",
            "price": 1299.0,
            "category": "office",
        },
        "PDT-1004": {
            "product_id": "PDT-1004",
            "name": "蓝牙耳机",
            "name_en": "bluetooth headphones",
            "price": 259.0,
            "category": "audio",
        },
        "PDT-1005": {
            "product_id": "PDT-1005",
            "name": "登山包",
            "name_en": "hiking backpack",
            "price": 329.0,
            "category": "outdoor",
        },
    },
    "stock": {
        ("PDT-1001", "WH-SH-01"): 12,
        ("PDT-1001", "WH-GZ-02"): 80,
        ("PDT-1002", "WH-SH-01"): 45,
        ("PDT-1002", "WH-BJ-03"): 7,
        ("PDT-1003", "WH-BJ-03"): 3,
        ("PDT-1004", "WH-GZ-02"): 150,
        ("PDT-1005", "WH-SH-01"): 0,
    },
    "customers": {
        "CUS-201": {
            "customer_id": "CUS-201",
            "name": "王芳",
            "phone": "021-5550-0101",
            "email": "fang.wang@example.com",
            "level": "gold",
            "points": 1820,
            "balance": 120.0,
        },
        "CUS-202": {
            "customer_id": "CUS-202",
            "name": "Li Wei",
            "phone": "020-5550-0102",
            "email": "wei.li@example.com",
            "level": "silver",
            "points": 430,
            "balance": 0.0,
        },
        "CUS-203": {
            "customer_id": "CUS-203",
            "name": "Anna Schmidt",
            "phone": "010-5550-0103",
            "email": "anna.s@example.com",
            "level": "bronze",
            "points": 60,
            "balance": 15.5,
        },
    },
    "orders": {
        "ORD-7001": {
            "order_id": "ORD-7001",
            "customer_id": "CUS-201",
            "product_id": "PDT-1001",
            "quantity": 2,
            "amount": 178.0,
            "status": "paid",
            "created": "2025-12-01",
        },
        "ORD-7002": {
            "order_id": "ORD-7002",
            "customer_id": "CUS-202",
            "product_id": "PDT-1002",
            "quantity": 1,
            "amount": 399.0,
            "status": "shipped",
            "created": "2025-12-03",
        },
        "ORD-7003": {
            "order_id": "ORD-7003",
            "customer_id": "CUS-203",
            "product_id": "PDT-1003",
            "quantity": 1,
            "amount": 1299.0,
            "status": "pending",
            "created": "2025-12-08",
        },
        "ORD-7004": {
            "order_id": "ORD-7004",
            "customer_id": "CUS-201",
            "product_id": "PDT-1004",
            "quantity": 3,
            "amount": 777.0,
            "status": "delivered",
            "created": "2025-11-20",
        },
    },
    "shipments": {
        "SHP-9001": {
            "shipment_id": "SHP-9001",
            "order_id": "ORD-7002",
            "carrier": "SF",
            "tracking_number": "SF10293847",
            "status": "in_transit",
        },
        "SHP-9002": {
            "shipment_id": "SHP-9002",
            "order_id": "ORD-7004",
            "carrier": "JD",
            "tracking_number": "JD55667788",
            "status": "delivered",
        },
    },
    "coupons": {
        "CPN-50": {
            "coupon_code": "CPN-50",
            "discount": 50.0,
            "threshold": 300.0,
            "left": 120,
            "expires": "2025-12-31",
        },
        "CPN-NEW": {
            "coupon_code": "CPN-NEW",
            "discount": 20.0,
            "threshold": 0.0,
            "left": 999,
            "expires": "2026-06-30",
        },
    },
    "suppliers": {
        "SUP-31": {"supplier_id": "SUP-31", "name": "华光塑胶", "products": ["PDT-1001"], "lead_days": 7},
        "SUP-32": {
            "supplier_id": "SUP-32",
            "name": "Keytron",
            "products": ["PDT-1002", "PDT-1004"],
            "lead_days": 14,
        },
    },
    "tickets": {
        "TCK-501": {
            "ticket_id": "TCK-501",
            "customer_id": "CUS-203",
            "subject": "椅子缺螺丝",
            "priority": "P2",
            "status": "open",
        },
    },
    "sequence": 1,
}

_store: ContextVar[dict[str, Any] | None] = ContextVar("back_office_store", default=None)


def store() -> dict[str, Any]:
    """The data of this attempt."""
    current = _store.get()
    if current is None:
        current = copy.deepcopy(_START)
        _store.set(current)
    return current


def reset() -> None:
    """Start again from the beginning; run before each attempt."""
    _store.set(copy.deepcopy(_START))


def find(table: str, key: str) -> dict[str, Any]:
    """The row with that key; a `LookupError` names the table and the key."""
    row = store()[table].get(key)
    if row is None:
        raise LookupError(f"no row {key!r} in {table}")
    return dict(row)


def next_id(prefix: str) -> str:
    """A new id, the same sequence in every attempt."""
    data = store()
    data["sequence"] += 1
    return f"{prefix}-{8000 + data['sequence']}"
