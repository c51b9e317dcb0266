"""The command `agent-reach`: one file per command; a command parses, calls one library function, renders."""
