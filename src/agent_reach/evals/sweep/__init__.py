"""Limits found by experiment: reach against tool count, position, passages and context load."""
