"""Text, seen the same way by lint, recall, scoring and reports: folding, words, identifiers, token counts."""
