"""Stored traces of other tools, read into our own records; `table` lists the forms, `read` opens files."""
