"""Dates and periods in Chinese and English: what they mean, how parameters want them, and texts that are none.

`dates.jsonl` holds expressions with the days they mean on Wednesday, 10 December 2025, weeks beginning on Monday; the rows were
recorded from the reader and then checked one by one against a calendar.
"""

from __future__ import annotations

import json
import os
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.router_normalize.support import NOW, TEXT, WHOLE, codes, normalize, rules, tool

from agent_reach.records.tool import ParameterHint
from agent_reach.router.normalize import NormalizeOptions
from agent_reach.router.normalize.dates.calendar import Clock, add_months, read_now
from agent_reach.router.normalize.dates.holidays import easter, holiday
from agent_reach.router.normalize.dates.ranges import find_dates, read_date

ROWS = [
    json.loads(line)
    for line in (Path(__file__).parent / "dates.jsonl").read_text(encoding="utf-8").splitlines()
]
CLOCK = Clock(now=datetime.fromisoformat(NOW))
PERIOD = tool(
    {"period": {"type": "string", "description": "period as START~END, format YYYY-MM-DD~YYYY-MM-DD"}},
    ["period"],
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["text"])
def test_what_an_expression_means(row: dict[str, str]) -> None:
    reading = read_date(row["text"], CLOCK)
    assert reading is not None
    assert (str(reading.span.first), str(reading.span.last)) == (row["first"], row["last"])
    if "time" in row:
        assert str(reading.span.time) == row["time"]
    done = normalize(PERIOD, {"period": row["text"]})
    assert done.arguments == {"period": f"{row['first']}~{row['last']}"}
    assert done.problems == ()


def given_rows() -> list[dict[str, str]]:
    places = [
        os.environ.get("AGENT_REACH_DATA"),
        str(Path(__file__).resolve().parents[3] / "shared" / "data"),
    ]
    for place in places:
        if place and (Path(place) / "dates.jsonl").is_file():
            lines = (Path(place) / "dates.jsonl").read_text(encoding="utf-8").splitlines()
            return [json.loads(line) for line in lines]
    return []


def test_the_given_rows() -> None:
    rows = given_rows()
    if not rows:
        pytest.skip("no dates.jsonl: set AGENT_REACH_DATA")
    for row in rows:
        done = normalize(PERIOD, {"period": row["text"]}, now=row["reference"])
        assert done.arguments == {
            "period": f"{row['start']}~{row['end']}" if row["start"] else row["text"]
        }, row["text"]


NO_DATES = [
    "PDT-1001", "ORD-20240301", "order 2024-03", "v1.2.3", "2024.1", "1.2.3", "SKU-2024-03-01", "WH-SH-01", "一号线", "三星", "周一鸣",
    "今天国际", "12345", "1/2", "3-5 days", "3天", "每周五下午3点", "every Friday", "三月饼", "Last Week Tonight", "may it work", "March Madness",
    "Sunday roast", "Second Street", "Edge of Tomorrow", "Freaky Friday", "order 12 of 2024", "20240301123456", "A2024-03-01",
    "report_2024-03-01.csv", "2024-03-01-backup", "192.168.1.1", "10.12.2024.5", "138-1234-5678", "13812345678", "T-20251210", "50%",
    "五一广场", "国庆路", "before March", "3月1日之前", "截至上月底", "2024-13-45", "2月30日", "Feb 30", "13月5日", "二十三十月", "Q5", "Q0", "H3",
    "last", "next", "week", "去年同期", "当月", "today.py", "now-playing", "Room Q3", "iPhone 15", "CVE-2024-12345", "Model 3", "May Smith",
    "王五一", "10号楼", "一天", "天天", "上海", "上周边", "下午", "FY2024", "Q3 FY24", "财年Q1", "a few days ago", "early March", "半年", "三年级",
    "not last week", "except yesterday", "last week or last month", "2025年12月12日（星期四）", "", "~", "START~END", "v2024.03.01", "前两周", "mid-March", "early next week", "late last month", "上个月的今天", "上月同期", "本财年", "3月中", "春节期间", "国庆假期", "上个双十一", "下7天", "刚刚", "上周这个时候", "订单号20240301", "版本2024.3.1", "v2024.03", "版本2024年3月", "order 2024-03-01", "SN20240301", "room 12-10", "1/4 cup", "明天科技", "周大福", "年年有余", "月饼", "星期五餐厅", "三月兔", "Friday's", "summer 2024", "2024 budget", "early next week", "late last month", "春节期间", "到上周", "直到昨天", "下单", "本初", "batch 7 today", "ID 20240301", "release 2024-03-01"]  # fmt: skip


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date_is_left_alone(text: str) -> None:
    done = normalize(PERIOD, {"period": text})
    assert done.arguments == {"period": text}
    assert done.changes == ()


FORMS: list[tuple[dict[str, Any], str, str]] = [
    ({"format": "date"}, "昨天", "2025-12-09"),
    ({"format": "date"}, "Dec 25", "2025-12-25"),
    ({"format": "date"}, "20240301", "2024-03-01"),
    ({"format": "date-time"}, "tomorrow at 3pm", "2025-12-11T15:00:00"),
    ({"format": "date-time"}, "昨天下午三点一刻", "2025-12-09T15:15:00"),
    ({"description": "格式为YYYY-MM-DD HH:MM"}, "明早9点", "2025-12-11 09:00"),
    ({"description": "格式为 YYYY-MM-DD HH:mm:ss"}, "today at noon", "2025-12-10 12:00:00"),
    ({"description": "DD/MM/YYYY"}, "2024-03-05", "05/03/2024"),
    ({"description": "MM/DD/YYYY"}, "3/5/2024", "03/05/2024"),
    ({"description": "yyyy/MM/dd"}, "March 5, 2024", "2024/03/05"),
    ({"description": "YYYYMMDD"}, "2024年3月5日", "20240305"),
    ({"description": "YYYY年MM月DD日"}, "昨天", "2025年12月09日"),
    ({"description": "Month, YYYY-MM"}, "上个月", "2025-11"),
    ({"description": "YYYY-MM or YYYY-Qn (n being the quarter)"}, "上季度", "2025-Q3"),
    ({"description": "YYYY-MM or YYYY-Qn (n being the quarter)"}, "March 2024", "2024-03"),
    ({"description": "quarter such as 2024Q3"}, "Q2", "2025Q2"),
    ({"description": "Year (YYYY)"}, "去年", "2024"),
    ({"description": "Range as 'YYYY-MM-DD to YYYY-MM-DD'"}, "last week", "2025-12-01 to 2025-12-07"),
    ({"description": "时间段，格式为YYYY-MM-DD到YYYY-MM-DD"}, "上周", "2025-12-01到2025-12-07"),
    ({"description": "YYYY-MM-DD/YYYY-MM-DD"}, "上周", "2025-12-01/2025-12-07"),
    ({"pattern": r"^\d{4}-\d{2}-\d{2}$"}, "yesterday", "2025-12-09"),
    ({"description": "The day (e.g. 2024-03-01)"}, "yesterday", "2025-12-09"),
    ({"description": "Day in ISO 8601"}, "yesterday", "2025-12-09"),
    ({"description": "HH:MM"}, "3pm", "15:00"),
    ({"description": "HH:MM"}, "下午三点半", "15:30"),
    ({"description": "hh:mm AM/PM"}, "下午三点半", "03:30 PM"),
    ({"type": ["string", "null"], "format": "date"}, "yesterday", "2025-12-09"),
]


@pytest.mark.parametrize(("schema", "text", "expected"), FORMS)
def test_a_date_is_written_as_the_parameter_wants_it(
    schema: dict[str, Any], text: str, expected: str
) -> None:
    probe = tool({"when": {"type": "string", **schema}}, ["when"])
    done = normalize(probe, {"when": text})
    assert done.arguments == {"when": expected}
    assert done.problems == ()
    change = done.changes[0]
    assert change.before == text
    assert change.span is not None
    assert text[change.span[0] : change.span[1]]
    again = normalize(probe, done.arguments)
    assert again.arguments == done.arguments
    assert again.changes == ()


def test_a_note_may_state_the_form() -> None:
    probe = tool({"when": TEXT}, hints={"when": ParameterHint(format="YYYY-MM-DD~YYYY-MM-DD")})
    assert normalize(probe, {"when": "上个月"}).arguments == {"when": "2025-11-01~2025-11-30"}
    nested = tool({"filter": {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}, "days": {"type": "array", "items": {"type": "string", "format": "date"}}})  # fmt: skip
    done = normalize(nested, {"filter": {"day": "yesterday"}, "days": ["today", "2024-01-01"]})
    assert done.arguments == {"filter": {"day": "2025-12-09"}, "days": ["2025-12-10", "2024-01-01"]}
    either = tool({"day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}})
    assert normalize(either, {"day": "yesterday"}).arguments == {"day": "2025-12-09"}


PAIR = tool(
    {"start_date": {"type": "string", "format": "date"}, "end_date": {"type": "string", "format": "date"}}
)


@pytest.mark.parametrize(
    ("emitted", "expected"),
    [
        ({"start_date": "last month"}, {"start_date": "2025-11-01", "end_date": "2025-11-30"}),
        ({"start_date": "上周", "end_date": "上周"}, {"start_date": "2025-12-01", "end_date": "2025-12-07"}),
        (
            {"start_date": "3 days ago", "end_date": "today"},
            {"start_date": "2025-12-07", "end_date": "2025-12-10"},
        ),
        ({"start_date": "yesterday"}, {"start_date": "2025-12-09"}),
        ({"end_date": "去年"}, {"end_date": "2024-12-31"}),
        ({"date_range": "last month"}, {"start_date": "2025-11-01", "end_date": "2025-11-30"}),
        ({"period": "Q2"}, {"start_date": "2025-04-01", "end_date": "2025-06-30"}),
    ],
)
def test_a_period_is_divided_over_a_pair(emitted: dict[str, str], expected: dict[str, str]) -> None:
    done = normalize(PAIR, emitted)
    assert done.arguments == expected
    assert done.problems == ()


def test_a_period_for_a_single_day_is_asked_about() -> None:
    done = normalize(tool({"day": {"type": "string", "format": "date"}}), {"day": "last week"})
    assert codes(done) == ["ambiguous"]
    assert "2025-12-01" in done.problems[0].message
    done = normalize(tool({"at": {"type": "string", "format": "date-time"}}), {"at": "tomorrow"})
    assert "time of day" in done.problems[0].message


@pytest.mark.parametrize("text", ["明天3点", "tomorrow at 3", "今晚12点"])
def test_a_time_with_two_readings_is_not_taken(text: str) -> None:
    done = normalize(tool({"at": {"type": "string", "format": "date-time"}}), {"at": text})
    assert done.problems
    assert done.arguments == {"at": text}


def test_zones_are_kept_and_turned() -> None:
    utc = tool({"at": {"type": "string", "description": "format YYYY-MM-DDTHH:MM:SSZ"}})
    offset = tool({"at": {"type": "string", "format": "date-time"}})
    now = "2025-12-10T10:00:00+08:00"
    assert normalize(utc, {"at": "tomorrow at 3pm"}, now=now).arguments == {"at": "2025-12-11T07:00:00Z"}
    assert normalize(offset, {"at": "tomorrow at 3pm"}, now=now).arguments == {
        "at": "2025-12-11T15:00:00+08:00"
    }
    assert normalize(utc, {"at": "tomorrow at 3pm"}).arguments == {"at": "tomorrow at 3pm"}
    shanghai = NormalizeOptions(timezone="Asia/Shanghai")
    done = normalize(offset, {"at": "tomorrow at 3pm"}, options=shanghai)
    assert done.arguments == {"at": "2025-12-11T15:00:00+08:00"}
    assert normalize(offset, {"at": "2025-12-11T15:00:00Z"}, now=now).changes == ()


def test_the_week_rule_is_stated() -> None:
    sunday = NormalizeOptions(week_start="sunday")
    assert normalize(PERIOD, {"period": "last week"}, options=sunday).arguments == {
        "period": "2025-11-30~2025-12-06"
    }
    assert normalize(PERIOD, {"period": "this Sunday"}, options=sunday).arguments == {
        "period": "2025-12-07~2025-12-07"
    }
    assert normalize(PERIOD, {"period": "本周末"}, options=sunday).arguments == {
        "period": "2025-12-13~2025-12-14"
    }


def test_relative_words_where_only_the_name_speaks_of_a_date() -> None:
    probe = tool(
        {
            "period": TEXT,
            "start_date": {"type": "string", "description": "First day"},
            "time_range": {"type": "string", "description": "Range (e.g., last week, last month)"},
            "title": TEXT,
        }
    )
    emitted = {
        "period": "上个月",
        "start_date": "yesterday",
        "time_range": "last month",
        "title": "last month",
    }
    done = normalize(probe, emitted)
    assert done.arguments == {**emitted, "period": "2025-11-01~2025-11-30"}
    assert rules(done) == ["date_undescribed"]
    asked = normalize(probe, emitted, options=NormalizeOptions(enabled=frozenset({"date_by_name"})))
    assert asked.arguments == {**emitted, "period": "2025-11-01~2025-11-30", "start_date": "2025-12-09"}
    assert normalize(probe, {"period": "March 2024", "start_date": "2024/03/01"}).changes == ()
    assert normalize(probe, {"period": "上个月"}, now=None).changes == ()
    off = NormalizeOptions(disabled_for={"probe": frozenset({"date_undescribed"})})
    assert normalize(probe, {"period": "上个月"}, options=off).changes == ()


def test_calendar_numbers() -> None:
    probe = tool({"year": WHOLE, "month": WHOLE, "quarter": WHOLE, "count": WHOLE})
    for emitted, expected in (
        ({"year": "去年"}, {"year": 2024}), ({"month": "March"}, {"month": 3}), ({"month": "三月"}, {"month": 3}),
        ({"month": "上个月"}, {"month": 11}), ({"quarter": "Q3"}, {"quarter": 3}), ({"quarter": "上季度"}, {"quarter": 3}),
    ):  # fmt: skip
        assert normalize(probe, emitted).arguments == expected
    assert normalize(probe, {"month": "March"}, now=None).arguments == {"month": 3}
    for emitted in ({"month": "上个月"}, {"year": "去年"}):
        assert normalize(probe, emitted, now=None).problems
    assert normalize(probe, {"count": "March"}).problems
    assert normalize(probe, {"month": "last week"}).problems


@pytest.mark.parametrize(
    ("name", "year", "expected"),
    [
        ("春节", 2024, "2024-02-10"), ("除夕", 2024, "2024-02-09"), ("端午节", 2023, "2023-06-22"), ("中秋节", 2025, "2025-10-06"),
        ("清明节", 2024, "2024-04-04"), ("chinese new year", 2026, "2026-02-17"), ("thanksgiving", 2024, "2024-11-28"),
        ("黑五", 2024, "2024-11-29"), ("母亲节", 2024, "2024-05-12"), ("memorial day", 2024, "2024-05-27"), ("good friday", 2024, "2024-03-29"),
        ("春节", 1999, None), ("no such day", 2024, None),
    ],
)  # fmt: skip
def test_holidays(name: str, year: int, expected: str | None) -> None:
    found = holiday(name, year)
    assert (str(found) if found else None) == expected


def test_easter_of_known_years() -> None:
    assert [easter(year).isoformat() for year in (1961, 2000, 2019, 2038)] == [
        "1961-04-02", "2000-04-23", "2019-04-21", "2038-04-25",
    ]  # fmt: skip


def test_dates_of_a_running_text_have_their_places() -> None:
    text = "把 3月5号 的会改到下周五下午3点，别动 PDT-1001"
    found = find_dates(text, CLOCK)
    assert [text[reading.start : reading.end] for reading in found] == ["3月5号", "下周五下午3点"]
    assert find_dates("every Monday at 9", CLOCK) == []


DAYS = st.dates(date(1990, 1, 1), date(2080, 12, 31))


@given(DAYS, DAYS)
def test_every_iso_day_is_read_as_itself_whatever_now(day: date, today: date) -> None:
    clock = Clock(now=datetime(today.year, today.month, today.day))
    for text in (
        day.isoformat(), f"{day:%Y/%m/%d}", f"{day.year}年{day.month}月{day.day}日", f"{day:%B} {day.day}, {day.year}", f"{day.day} {day:%b} {day.year}",
    ):  # fmt: skip
        reading = read_date(text, clock)
        assert reading is not None
        assert (reading.span.first, reading.span.last, reading.span.relative) == (day, day, False)


@given(DAYS, st.integers(1, 400))
def test_days_ago_and_in_days_mirror_each_other(today: date, count: int) -> None:
    clock = Clock(now=datetime(today.year, today.month, today.day))
    for back, ahead in ((f"{count} days ago", f"in {count} days"), (f"{count}天前", f"{count}天后")):
        first, second = read_date(back, clock), read_date(ahead, clock)
        assert first is not None
        assert second is not None
        assert today - first.span.first == second.span.first - today == timedelta(days=count)


@given(DAYS)
def test_calendar_periods_tile_the_calendar(today: date) -> None:
    clock = Clock(now=datetime(today.year, today.month, today.day))
    for last, this, following in (
        ("last week", "this week", "next week"), ("上个月", "这个月", "下个月"), ("上季度", "本季度", "下季度"), ("去年", "今年", "明年"),
    ):  # fmt: skip
        readings = [read_date(text, clock) for text in (last, this, following)]
        spans = [reading.span for reading in readings if reading]
        assert len(spans) == 3
        assert spans[1].first <= today <= spans[1].last
        assert spans[0].last + timedelta(days=1) == spans[1].first
        assert spans[1].last + timedelta(days=1) == spans[2].first


@given(DAYS, st.integers(-600, 600))
def test_months_are_added_within_their_length(day: date, months: int) -> None:
    moved = add_months(day, months)
    assert (moved.year * 12 + moved.month) - (day.year * 12 + day.month) == months
    assert moved.day == day.day or (moved + timedelta(days=1)).day == 1


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    for reading in find_dates(text, CLOCK):
        assert 0 <= reading.start < reading.end <= len(text)
        assert reading.span.first <= reading.span.last
    read_date(text, CLOCK)


WORDS = st.lists(
    st.sampled_from(["上", "下", "本", "这", "个", "月", "周", "年", "季度", "第", "一", "二", "三", "日", "号", "天", "前", "后", "最近", "到", "至", "点", "半", "初", "底", "末", "今", "明", "去", "last", "next", "this", "week", "month", "year", "of", "the", "q1", "2024", "3", "12", "-", "/", "to", "and", "since", "ago", "days", "end", "march", "fri", "pm", "at"]),
    max_size=7,
)  # fmt: skip


@given(WORDS, st.sampled_from(["", " "]))
def test_date_words_in_any_order_break_nothing(words: list[str], glue: str) -> None:
    text = glue.join(words)
    for reading in find_dates(text, CLOCK):
        assert 0 <= reading.start < reading.end <= len(text)
    done = normalize(PERIOD, {"period": text})
    if done.changes:
        assert done.arguments is not None
        first, _, last = done.arguments["period"].partition("~")
        assert date.fromisoformat(first) <= date.fromisoformat(last)


def test_a_now_that_is_no_date_is_an_error_for_people() -> None:
    from agent_reach.errors import InputError

    with pytest.raises(InputError, match="no ISO date-time"):
        read_now("yesterday")


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [("上個月", "上个月"), ("華南區本週", "華南區本周"), ("後天下午3點", "后天下午3点"), ("這個禮拜五", "这个礼拜五"), ("過去兩週", "过去两周"), ("聖誕節", "圣诞节"), ("三月五號", "三月五号")],
)  # fmt: skip
def test_traditional_characters_say_the_same(traditional: str, simplified: str) -> None:
    readings = [read_date(text, CLOCK) for text in (traditional, simplified)]
    assert readings[0] is not None
    assert readings[1] is not None
    assert readings[0].span == readings[1].span
