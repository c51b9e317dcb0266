"""The texts of a new project: reach.yaml, config.yaml and a CI snippet, in English or Chinese.

Only texts; what goes into the starter suite is made from the catalog elsewhere.
"""

from __future__ import annotations

from agent_reach.records.message import Language

SUITE_NAME = "core-suite"
SUITE_FILE = "suites/core.yaml"
CONFIG_FILE = "config.yaml"
CI_FILE = "agent-reach-ci.yml"

_REACH = {
    "en": """\
# The project: what all runs share. Relative paths start at this folder.
catalog: {catalog}                 # an mcpServers file, a saved tools/list, OpenAPI, a Python module
# overlay: overlay.yaml            # notes, needs, effects, aliases beside the tools
suites:
  {suite}: {suite_file}
run: config.yaml
baseline: baseline.json            # written by `agent-reach baseline promote REPORT`
gate: {{threshold: 0.02, on_suspect: fail}}
language: en
# environments:
#   prod: {{services: [orders], scopes: [orders:read], env: [ORDERS_TOKEN]}}
""",
    "zh": """\
# 项目：所有运行共用的内容。相对路径从本目录算起。
catalog: {catalog}                 # mcpServers 文件、保存的 tools/list、OpenAPI 或 Python 模块
# overlay: overlay.yaml            # 工具旁的说明、所需权限、副作用、别名
suites:
  {suite}: {suite_file}
run: config.yaml
baseline: baseline.json            # 由 `agent-reach baseline promote REPORT` 写入
gate: {{threshold: 0.02, on_suspect: fail}}
language: zh
# environments:
#   prod: {{services: [orders], scopes: [orders:read], env: [ORDERS_TOKEN]}}
""",
}

_CONFIG = {
    "en": """\
# One run: which agent decides, what it is shown, how calls are executed. docs/config.md lists every key.
agent:
  type: lexical                    # no model: a floor to compare with
  # type: chat                     # any OpenAI-compatible endpoint
  # base_url: http://localhost:8000/v1
  # model: my-model
  # api_key_env: MY_API_KEY        # the name of the variable, never the key
exposure: all                      # all, a list of names, or reach
execution: recorded                # recorded, python, mcp, http
context: {max_passages: 5, best_passages: first}
repeats: 1
concurrency: 4
attempt_timeout: 120               # seconds; null waits for ever
seed: 0
""",
    "zh": """\
# 一次运行：由哪个智能体决策、给它看什么、如何执行调用。所有键见 docs/config.md。
agent:
  type: lexical                    # 不用模型：作为对照的下限
  # type: chat                     # 任何兼容 OpenAI 的端点
  # base_url: http://localhost:8000/v1
  # model: my-model
  # api_key_env: MY_API_KEY        # 环境变量的名字，不是密钥本身
exposure: all                      # all、名字列表或 reach
execution: recorded                # recorded、python、mcp、http
context: {max_passages: 5, best_passages: first}
repeats: 1
concurrency: 4
attempt_timeout: 120               # 秒；null 表示一直等待
seed: 0
""",
}

_CI = {
    "en": """\
# A CI snippet (GitHub Actions form): put it under .github/workflows/, or copy the three commands into your own CI.
""",
    "zh": """\
# CI 片段（GitHub Actions 形式）：放到 .github/workflows/ 下，或把三条命令抄到自己的 CI 中。
""",
}
_CI_BODY = """\
name: agent-reach
on: [pull_request]
jobs:
  gate:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with: {{python-version: "3.11"}}
      - run: pip install agent-reach-toolkit
      - run: agent-reach suite lint {suite}
      - run: agent-reach run --suite {suite} --config config.yaml --report report.json
      - run: agent-reach diff --baseline baseline.json --current report.json --threshold 0.02
"""

SUITE_COMMENT = {
    "en": "Twenty tasks to complete: put your users' own words into each query, mend arguments and results, then\n"
    "remove `review: true`. `agent-reach suite lint core-suite` says what is still wrong.",
    "zh": "二十个待补全的任务：把每个 query 换成用户的原话，改正参数和结果，再去掉 `review: true`。\n"
    "`agent-reach suite lint core-suite` 会指出还有什么问题。",
}


def project_texts(catalog: str, language: Language) -> dict[str, str]:
    """File name -> text of the files that do not depend on the tools; `catalog` as it is to be written."""
    import json

    names = {
        "suite": SUITE_NAME,
        "suite_file": SUITE_FILE,
        "catalog": json.dumps(catalog, ensure_ascii=False),
    }
    return {
        "reach.yaml": _REACH[language].format(**names),
        CONFIG_FILE: _CONFIG[language],
        CI_FILE: _CI[language] + _CI_BODY.format(**names),
    }
