"""Traces out: `shapes` are the fixed JSON shapes, `telemetry` OpenTelemetry spans, `parquet` columns; `table` lists them."""
