"""The back office of a small shop: about sixty tools over one in-memory store.

It stands in for the tool list of a real company: several teams wrote it, in two languages, with look-alike names, an
over-long description, dates without a stated format, ids buried in long results, a permission, a rate-limited supplier.
Every tool works on the data of `data.py` and gives the same answer every time.
"""
