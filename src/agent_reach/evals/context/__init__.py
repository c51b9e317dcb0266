"""What a model is given: blocks put together by a template, kept inside a token budget, with everything lost on record.

Pure text work: it calls no model and runs no tool.
"""
