"""The agents that a run can drive, behind one Protocol (`base`); one file per kind, and `session` records what they do."""
