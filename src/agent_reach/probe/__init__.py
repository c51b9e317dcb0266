"""Physical reach: can each tool be started and called here, and if not, what stands in the way."""
