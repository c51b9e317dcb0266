"""A trace walked again: with its recorded answers, through another catalog, router or model, difference by difference."""
