"""Causes shown by experiment: each intervention removes one cause, and only that one."""
