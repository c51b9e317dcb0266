"""Chinese terms of names and descriptions and the English field words that they stand for.

Terms only, no grammar: what stands between two known terms is passed over.
"""

from __future__ import annotations

from functools import lru_cache

CHINESE_TERMS: tuple[tuple[str, str], ...] = (
    ("用户", "user"), ("订单", "order"), ("商品", "product"), ("产品", "product"), ("仓库", "warehouse"),
    ("库存", "stock"), ("客户", "customer"), ("员工", "employee"), ("部门", "department"), ("航班", "flight"),
    ("酒店", "hotel"), ("文件夹", "folder"), ("文件", "file"), ("邮件", "email"), ("邮箱", "email"),
    ("城市", "city"), ("地址", "address"), ("日期", "date"), ("时间", "time"), ("账户", "account"),
    ("账号", "account"), ("发票", "invoice"), ("支付", "payment"), ("付款", "payment"), ("物流", "shipment"),
    ("运单", "shipment"), ("快递", "shipment"), ("会议", "meeting"), ("日程", "event"), ("任务", "task"),
    ("项目", "project"), ("合同", "contract"), ("供应商", "supplier"), ("优惠券", "coupon"), ("门店", "store"),
    ("店铺", "store"), ("车辆", "vehicle"), ("设备", "device"), ("消息", "message"), ("评论", "comment"),
    ("标签", "tag"), ("价格", "price"), ("金额", "amount"), ("数量", "quantity"), ("名称", "name"),
    ("姓名", "name"), ("编号", "id"), ("号码", "number"), ("单号", "id"), ("标识", "id"), ("代码", "code"),
    ("手机", "phone"), ("电话", "phone"), ("公司", "company"), ("预订", "reservation"), ("工单", "ticket"),
    ("票", "ticket"), ("课程", "course"), ("学生", "student"), ("患者", "patient"), ("医生", "doctor"),
    ("语言", "language"), ("股票", "stock"), ("分类", "category"), ("类别", "category"), ("乘客", "passenger"),
)  # fmt: skip
_CHINESE_BY_LENGTH = tuple(sorted(CHINESE_TERMS, key=lambda pair: -len(pair[0])))


@lru_cache(maxsize=16384)
def chinese_words(text: str) -> tuple[str, ...]:
    """The known field words of a Chinese text, in order, in English; longest first at each place."""
    found: list[str] = []
    start = 0
    while start < len(text):
        for term, word in _CHINESE_BY_LENGTH:
            if text.startswith(term, start):
                found.append(word)
                start += len(term)
                break
        else:
            start += 1
    return tuple(found)
