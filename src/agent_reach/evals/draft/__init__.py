"""Suites drafted from a catalog and from traces; a person confirms every task before it counts as true."""
