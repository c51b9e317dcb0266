"""What `lint_suite` looks at, one subject per module; each check is a function from a task (or suite) to findings."""
