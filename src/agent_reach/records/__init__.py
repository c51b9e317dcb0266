"""The data that parts hand to one another: frozen records without behaviour, files or network.

`tool` what a tool is; `task` what is asked and what would be right; `context` what the model was given;
`trace` what happened; `score` what it is worth; `finding` what is wrong with an input; `graph` how tools hang
together; `report` what a run says; `gate` how two reports compare; `events` what a run does while it lasts; `codec` records to JSON and back.
"""
