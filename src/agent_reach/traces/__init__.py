"""One record of every decision: stored, imported from what people already have, exported, replayed."""
