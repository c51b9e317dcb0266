"""One rule a file; `agent_reach.lint.table` lists them by code."""
