import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_reach.redact.redactor import Redactor, is_secret_name

redactor = Redactor.standard()


def test_f20_nested_headers_and_texts_are_masked_and_ordinary_words_are_not():
    arguments = {
        "config": {
            "apiKey": "qq9-FAKE-0000000000",
            "headers": {"X-Api-Key": "zz-FAKE"},
            "note": "Authorization: Bearer FAKE.TOKEN",
            "author": "token ring fan",
        }
    }
    masked = redactor.value(arguments)["config"]
    assert masked["apiKey"].startswith("[redacted:")
    assert masked["headers"]["X-Api-Key"].startswith("[redacted:")
    assert "FAKE.TOKEN" not in masked["note"]
    assert masked["note"].startswith("Authorization: ")
    assert masked["author"] == "token ring fan"


@pytest.mark.parametrize(
    "name",
    [
        "apiKey",
        "X-Api-Key",
        "password",
        "db_password",
        "Authorization",
        "client_secret",
        "refreshToken",
        "_auth",
        "session-token",
        "GITHUB_TOKEN",
        "OPENAI_API_KEY",
        "密码",
    ],
)
def test_secret_names(name):
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "author",
        "max_tokens",
        "token_count",
        "authority",
        "key",
        "keyboard",
        "tokens",
        "secretary",
        "auth_type",
        "token_limit",
        "order_key",
    ],
)
def test_ordinary_names(name):
    assert not is_secret_name(name)


@pytest.mark.parametrize(
    "text",
    [
        "curl -H 'Authorization: Bearer abcdef123456'",
        "key sk-proj-abcdefghijklmnop1234 was refused",
        "postgresql://app:hunter22@db/app",
        "password=hunter22",
        '{"client_secret": "hunter22-abc"}',
        "ghp_abcdefghijklmnopqrst12",
        "-----BEGIN RSA PRIVATE KEY-----\nhunter22\n-----END RSA PRIVATE KEY-----",
        "数据库密码是hunter22，别外传",
        "SECRET=hunter22",
        "API_KEY=hunter22 and more",
        "MY_API_KEY_2=hunter22",
        "dbPassword=hunter22",
        "GITHUB_TOKEN=hunter22",
        "DB_PASS=hunter22",
        "https://example.org/?token=hunter22",
        "server --api-key hunter22 --verbose",
        "server --token=hunter22",
        "mysql://user:hunter22@host",
    ],
)
def test_value_forms(text):
    masked = redactor.text(text)
    assert "[redacted:" in masked
    for secret in ("hunter22", "abcdef123456", "abcdefghijklmnop"):
        assert secret not in masked


@pytest.mark.parametrize(
    "text",
    [
        "the token ring fan",
        "a basic question",
        "max_tokens: 4096",
        "secretary: Ann",
        "密码在哪里改",
        "order PDT-1001",
        "Unexpected token: abc1234",
        "missing credentials: set them",
        "sort --key column1",
        "author=anna1234567",
        "compass=north12345",
        "pass_rate=0.951234",
    ],
)
def test_ordinary_texts_stay(text):
    assert redactor.text(text) == text


def test_equal_secrets_stay_equal_and_masking_twice_changes_nothing():
    once = redactor.value({"a": {"password": "one"}, "b": {"password": "one"}, "c": {"password": "two"}})
    assert once["a"] == once["b"] != once["c"]
    assert redactor.value(once) == once


def test_known_secrets_and_personal_data_and_keep():
    own = Redactor(known=["s3cr3t-value"], personal=True, keep=["token"], keys=["badge"])
    assert "s3cr3t-value" not in own.text("stderr: s3cr3t-value seen")
    assert "ann@example.org" not in own.text("mail ann@example.org")
    assert "13812345678" not in own.text("电话13812345678。")
    assert own.value({"token": "x1y2z3", "badge": "77"})["token"] == "x1y2z3"
    assert own.value({"badge": "77"})["badge"] != "77"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values)
def test_any_value_survives_and_masking_is_idempotent(value):
    once = redactor.value(value)
    assert redactor.value(once) == once


@given(st.text(alphabet=st.characters(min_codepoint=33, max_codepoint=126), min_size=8))
def test_a_value_under_a_secret_key_never_stays(secret):
    assert (
        secret not in str(redactor.value({"outer": [{"api_key": secret}]}).values()) or secret in "[redacted:"
    )


own = Redactor(keys=["employee_no", "工号"], patterns=[r"CUS-\d+"])


@pytest.mark.parametrize(
    "text",
    [
        "employee_no: E-4711",
        "employeeNo=E-4711&x=1",
        '{"employee_no": "E-4711"}',
        '{"body": "{\\"employee-no\\": \\"E-4711\\"}"}',
        '{"employee_no": ["E-4711", {"deep": "E-4711"}], "other": 1}',
        '{"employee_no": {"old": "E-4711',
        "<employee_no>E-4711</employee_no>",
        "我的工号是E-4711，谢谢",
        "工号：E-4711。",
        "see CUS-4711",
    ],
)
def test_own_rules_reach_into_texts(text):
    masked = own.text(text)
    assert "4711" not in masked
    assert own.text(masked) == masked
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    "text", ["new_employee_no_list: 3", "employee number 4711", '{"employee_no_count": 4711}', "员工号 4711"]
)
def test_names_that_only_resemble_a_key_stay(text):
    assert own.text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        '{"credentials": {"user": "ann", "pin": "hunter22"}}',
        'he wrote {"a": "{\\"password\\": \\"hunter22\\"}"}',
        '{"secret": ["hunter22", 1], "rest": "stays"}',
    ],
)
def test_secret_keys_of_json_in_texts(text):
    masked = redactor.text(text)
    assert "hunter22" not in masked
    assert ("stays" in masked) == ("stays" in text)
    assert redactor.text(masked) == masked


def test_json_in_a_text_stays_json():
    import json

    text = json.dumps({"employee_no": {"a": [1, "}"]}, "b": 'say "employee_no"', "password": 'x"y'})
    masked = json.loads(own.text(text))
    assert masked["b"] == 'say "employee_no"'
    assert masked["employee_no"].startswith("[redacted:")
    assert masked["password"].startswith("[redacted:")


def test_rules_for_fields():
    rules = Redactor(
        keys=["owner"],
        fields={
            "customer.phone": "mask",
            "*.arguments.note": "remove",
            "public.owner": "keep",
            "customer.*": "remove",
        },
    )
    value = {"customer": {"phone": "1", "name": "Ann"}, "phone": "2", "public": {"owner": "x"}, "owner": "y"}
    masked = rules.value(value)
    assert masked["customer"]["phone"] == "[redacted]"  # both rules have two parts: the later one holds
    assert masked["customer"]["name"] == "[redacted]"
    assert masked["phone"] == "2"
    assert masked["public"] == {"owner": "x"}
    assert masked["owner"].startswith("[redacted:")
    assert rules.value({"note": [{"a": "x"}], "keep": 1}, place=("crm/get", "arguments")) == {
        "note": [{"a": "[redacted]"}],
        "keep": 1,
    }
    assert rules.value('{"note": "x"}', place=("crm/get", "arguments")) == '{"note": "[redacted]"}'


def test_the_salt_changes_what_stands_for_a_secret():
    one, other = Redactor(salt="a"), Redactor(salt="b")
    assert one.value({"password": "p1"}) == Redactor(salt="a").value({"password": "p1"})
    assert one.value({"password": "p1"}) != other.value({"password": "p1"})


words = st.sampled_from(
    [
        "employee_no",
        '"',
        '\\"',
        "'",
        ":",
        " ",
        "{",
        "}",
        "[",
        "]",
        "E-4711",
        "password",
        "=",
        "\\",
        ",",
        "工号",
        "是",
        "CUS-1",
    ]
)


@given(st.lists(words, max_size=30).map("".join))
def test_masking_a_text_twice_changes_nothing_more(text):
    once = own.text(text)
    assert own.text(once) == once
