"""优惠券与采购 / Coupons and suppliers."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import find, next_id, store


@tool
def create_coupon(discount: float, threshold: float, expires: str) -> dict[str, Any]:
    """新建一种优惠券（定义满减规则），不发给任何人。

    Args:
        discount: 减免金额，单位元
        threshold: 满多少元可用
        expires: 到期日
    """
    return {"coupon_code": next_id("CPN"), "discount": discount, "threshold": threshold, "expires": expires}


@tool
def issue_coupon(customer_id: str, coupon_code: str) -> dict[str, Any]:
    """把已有的优惠券发给一位客户。用户说“给他发一张券”时使用。

    Args:
        customer_id: 客户编号，例如 CUS-201
        coupon_code: 优惠券代码，例如 CPN-50
    """
    find("customers", customer_id)
    find("coupons", coupon_code)
    return {"customer_id": customer_id, "coupon_code": coupon_code, "status": "issued"}


@tool
def query_coupon(coupon_code: str) -> dict[str, Any]:
    """查询优惠券的规则、剩余张数和到期日。

    Args:
        coupon_code: 优惠券代码，例如 CPN-50
    """
    return find("coupons", coupon_code)


@tool
def disable_coupon(coupon_code: str) -> dict[str, Any]:
    """停用优惠券。

    Args:
        coupon_code: 优惠券代码
    """
    find("coupons", coupon_code)
    return {"coupon_code": coupon_code, "status": "disabled"}


@tool
def start_campaign(name: str, audience: Literal["all", "gold", "new"], start: str) -> dict[str, Any]:
    """Start a marketing campaign.

    Args:
        name: Name of the campaign
        audience: Who gets it
        start: First day
    """
    return {"campaign_id": next_id("CMP"), "name": name, "audience": audience, "start": start}


@tool
def search_knowledge_base(query: str) -> list[dict[str, Any]]:
    """搜索内部知识库（产品手册、退换货政策、故障排查）。

    Args:
        query: 要找的内容
    """
    return [
        {"passage_id": "KB-12", "partition": "退换货政策", "text": "签收七天内可无理由退货；定制商品除外。"},
        {
            "passage_id": "KB-31",
            "partition": "产品手册",
            "text": "PDT-1003 人体工学椅承重 136 公斤，质保三年。",
        },
    ]


@tool
def list_suppliers(product_id: str) -> list[dict[str, Any]]:
    """List the suppliers of a product with their lead times. Use to find out who can deliver it.

    Args:
        product_id: Product id, for example PDT-1001
    """
    rows = [dict(row) for row in store()["suppliers"].values() if product_id in row["products"]]
    if not rows:
        raise LookupError(f"no supplier for {product_id!r}")
    return rows


@tool
def order_from_supplier(supplier_id: str, product_id: str, quantity: int) -> dict[str, Any]:
    """Order goods from a supplier. The supplier's interface allows few requests a minute.

    Args:
        supplier_id: Supplier id, for example SUP-31
        product_id: Product id
        quantity: Number of pieces
    """
    find("suppliers", supplier_id)
    return {
        "purchase_id": next_id("PUR"),
        "supplier_id": supplier_id,
        "product_id": product_id,
        "quantity": quantity,
    }


@tool
def query_purchase(purchase_id: str) -> dict[str, Any]:
    """Get the state of a purchase from a supplier.

    Args:
        purchase_id: Purchase id, for example PUR-8002
    """
    return {"purchase_id": purchase_id, "status": "confirmed"}


@tool
def rate_supplier(supplier_id: str, stars: int, comment: str = "") -> dict[str, Any]:
    """给供应商打分。

    Args:
        supplier_id: 供应商编号
        stars: 星级，1 到 5
        comment: 评语
    """
    find("suppliers", supplier_id)
    return {"supplier_id": supplier_id, "stars": stars}
