"""Sessions with MCP servers: who they are (`servers`), how they are spoken to (`session`), what they answer (`results`).

`pipe` and `remote` carry messages, `peer` matches answers to requests, `negotiation` finds the protocol era, `listing`
walks all pages of a tool list, `startup` opens many servers at once, `oauth` gets and keeps tokens.
"""
