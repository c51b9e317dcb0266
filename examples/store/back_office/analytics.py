"""Reports and finance: dates without a stated format, one tool behind a permission."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import next_id


@tool
def sales_report(period: str, region: Literal["east", "south", "north"] | None = None) -> dict[str, Any]:
    """销售报表：某时间段的销售额和订单数，可按大区看。用户问“卖了多少”“营收”时使用。

    Args:
        period: 时间段
        region: 大区
    """
    return {"period": period, "region": region or "all", "revenue": 182340.5, "orders": 1204}


@tool
def revenue_report(month: str) -> dict[str, Any]:
    """Accounting revenue of a month after returns and taxes. Use for bookkeeping, not for sales figures.

    Args:
        month: The month as YYYY-MM
    """
    return {"month": month, "revenue": 151020.0}


@tool
def stock_report(warehouse_id: str) -> dict[str, Any]:
    """Value and age of the stock of a warehouse.

    Args:
        warehouse_id: Warehouse id, for example WH-SH-01
    """
    return {"warehouse_id": warehouse_id, "value": 48210.0, "older_than_90_days": 0.12}


@tool
def return_rate(product_id: str, start_date: str, end_date: str) -> dict[str, Any]:
    """Share of sold pieces that came back in a period.

    Args:
        product_id: Product id, for example PDT-1003
        start_date: First day, YYYY-MM-DD
        end_date: Last day, YYYY-MM-DD
    """
    return {"product_id": product_id, "start_date": start_date, "end_date": end_date, "rate": 0.031}


@tool
def customer_ranking(period: str, limit: int = 10) -> list[dict[str, Any]]:
    """按消费额给客户排名。

    Args:
        period: 时间段
        limit: 名次数量
    """
    return [{"customer_id": "CUS-201", "amount": 955.0}, {"customer_id": "CUS-202", "amount": 399.0}][:limit]


@tool
def export_payroll(month: str) -> dict[str, Any]:
    """Export the payroll of a month. Needs the finance permission.

    Args:
        month: The month as YYYY-MM
    """
    return {"file": f"payroll-{month}.xlsx"}


@tool
def create_invoice(order_id: str, title: str, tax_number: str | None = None) -> dict[str, Any]:
    """开发票。用户说“开票”“要发票”时使用。

    Args:
        order_id: 订单编号，例如 ORD-7001
        title: 发票抬头
        tax_number: 税号
    """
    return {"invoice_id": next_id("INV"), "order_id": order_id, "title": title}


@tool
def void_invoice(invoice_id: str) -> dict[str, Any]:
    """作废发票。

    Args:
        invoice_id: 发票编号
    """
    return {"invoice_id": invoice_id, "status": "void"}


@tool
def daily_summary(date: str) -> dict[str, Any]:
    """Summary of one day: orders, revenue, complaints.

    Args:
        date: The day
    """
    return {"date": date, "orders": 41, "revenue": 6020.0, "complaints": 2}


@tool
def set_alert(
    metric: Literal["stock", "revenue", "complaints"], limit: float, direction: Literal["above", "below"]
) -> dict[str, Any]:
    """Send an alert when a figure passes a limit.

    Args:
        metric: Which figure
        limit: The limit
        direction: On which side of the limit
    """
    return {"alert_id": next_id("ALR"), "metric": metric, "limit": limit, "direction": direction}
