"""The version, in a file of its own so that nothing else is read to learn it."""

__version__ = "0.1.0"
