"""The two doors of `agent-reach check`: a first look at any tool list, and the release gate of a project."""
