"""Changes proposed from failures and lint, tried on one half of the tasks and kept if the other half agrees."""
