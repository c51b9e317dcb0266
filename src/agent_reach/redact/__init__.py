"""Secrets out of everything before it is written: traces, reports, error texts, HTML."""
