"""Where traces are kept: `base` says what a store does, `sqlite` and `postgres` do it over the shared `schema`."""
