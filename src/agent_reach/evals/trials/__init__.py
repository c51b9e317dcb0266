"""Attempts made to find something out: variants of a run, shared between questions and kept on disk."""
