"""How a call is executed: `recorded`, `python`, `mcp`, `http`, and wrappers around any of them."""
