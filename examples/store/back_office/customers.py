"""Customers and support: both languages, one description that is far too long."""

from __future__ import annotations

from typing import Any, Literal

from agent_reach import tool
from back_office.data import find, next_id, store


@tool
def find_customer(name: str | None = None, phone: str | None = None) -> list[dict[str, Any]]:
    """Find a customer by name or phone number and get the customer id. Use first when only a name is known.

    Args:
        name: Name or part of it
        phone: Phone number
    """
    return [
        {"customer_id": row["customer_id"], "name": row["name"]}
        for row in store()["customers"].values()
        if (name and name.lower() in row["name"].lower()) or (phone and phone == row["phone"])
    ]


@tool
def get_customer(customer_id: str) -> dict[str, Any]:
    """Get the record of a customer: level, contact, balance.

    Args:
        customer_id: Customer id, for example CUS-201
    """
    return find("customers", customer_id)


@tool
def get_customer_profile(customer_id: str) -> dict[str, Any]:
    """Get the marketing profile of a customer (segments and interests).

    Args:
        customer_id: Customer id
    """
    return {"customer_id": customer_id, "segments": ["returning"], "interests": ["office"]}


@tool
def update_customer_phone(customer_id: str, phone: str) -> dict[str, Any]:
    """修改客户的手机号。

    Args:
        customer_id: 客户编号，例如 CUS-201
        phone: 新号码
    """
    find("customers", customer_id)
    return {"customer_id": customer_id, "phone": phone}


@tool
def query_points(customer_id: str) -> dict[str, Any]:
    """查询会员积分。用户问“我有多少积分”时使用。

    Args:
        customer_id: 客户编号，例如 CUS-201
    """
    row = find("customers", customer_id)
    return {"customer_id": customer_id, "points": row["points"]}


@tool
def redeem_points(customer_id: str, points: int) -> dict[str, Any]:
    """用积分兑换余额。

    Args:
        customer_id: 客户编号
        points: 要兑换的积分
    """
    row = find("customers", customer_id)
    if row["points"] < points:
        raise ValueError(f"{customer_id} has only {row['points']} points")
    return {"customer_id": customer_id, "balance_added": points / 100}


@tool
def set_customer_level(
    customer_id: str, level: Literal["bronze", "silver", "gold", "platinum"]
) -> dict[str, Any]:
    """调整会员等级。

    Args:
        customer_id: 客户编号
        level: 等级
    """
    find("customers", customer_id)
    return {"customer_id": customer_id, "level": level}


@tool
def create_ticket(
    customer_id: str, subject: str, priority: Literal["P1", "P2", "P3"] = "P2"
) -> dict[str, Any]:
    """Open a support ticket for a complaint or a question.

    Args:
        customer_id: Customer id, for example CUS-201
        subject: What it is about, one line
        priority: Priority
    """
    find("customers", customer_id)
    return {"ticket_id": next_id("TCK"), "customer_id": customer_id, "subject": subject, "priority": priority}


@tool
def close_ticket(ticket_id: str, resolution: str) -> dict[str, Any]:
    """Close a support ticket with a resolution.

    Args:
        ticket_id: Ticket id, for example TCK-501
        resolution: What was done
    """
    find("tickets", ticket_id)
    return {"ticket_id": ticket_id, "status": "closed"}


@tool
def escalate_ticket(ticket_id: str, team: Literal["logistics", "finance", "quality"]) -> dict[str, Any]:
    """Hand a support ticket over to another team.

    This tool belongs to the service desk programme of the customer experience department, which was set up to bring the
    handling of complaints in the shop, the call centre and the social channels under one roof. It follows the escalation
    policy in its third edition, the service level agreement between the departments, the guideline on tone in written
    answers, and the regulation on keeping records of complaints. The policy distinguishes between an informal hand-over,
    which leaves no trace in the system and should therefore be avoided, and a formal one, which this tool carries out. A
    formal hand-over changes the owner of the ticket, notifies the receiving team by mail and by the internal messenger,
    starts the clock of the service level of that team, and writes an entry in the history of the ticket. The history is
    kept for seven years. Managers can see the hand-overs of their teams in the monthly overview. The receiving team may
    send a ticket back within one working day, with a reason. A ticket can be handed over several times; the service level
    of the first team is not prolonged by that. Use it when the user asks to pass a ticket on, for example to the quality
    team because goods arrived broken, or to logistics because a parcel is lost.

    Args:
        ticket_id: Ticket id, for example TCK-501
        team: Receiving team
    """
    find("tickets", ticket_id)
    return {"ticket_id": ticket_id, "team": team}


@tool
def send_message(customer_id: str, text: str, channel: Literal["sms", "email"] = "sms") -> dict[str, Any]:
    """Send a message to a customer.

    Args:
        customer_id: Customer id
        text: The message
        channel: Channel
    """
    find("customers", customer_id)
    return {"message_id": next_id("MSG"), "customer_id": customer_id, "channel": channel}
