"""Tool calls as models emit them: messages, streams, text forms, ids, duplicates, arguments that are not quite JSON.

Below importers, normaliser and agents, which all read emitted calls and must read them the same way.
"""
