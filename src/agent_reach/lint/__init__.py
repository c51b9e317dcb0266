"""What stands between a tool and a model, rule by rule.

`base` says what a rule is; `table` lists all rules by code; `rules/` holds one file per rule; `engine` runs them over a
catalog; `proposals` turns findings into an overlay to review. A rule reads tools and never the network.
"""
