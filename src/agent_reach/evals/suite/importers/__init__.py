"""Task sets of public benchmarks, turned into suites: one module per form, a table in `registry`."""
