"""Sources of tools: live MCP servers, OpenAPI documents, Python functions; tool lists in files are read by `load`."""
