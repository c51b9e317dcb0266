"""What models emit, turned into calls: argument texts, messages, streams, calls written as text, ids and duplicates.

Reading never executes and never guesses: what cannot be read is a problem with its position, never an empty call.
Which tool a name means is the business of `catalog.naming`.
"""
