"""One file a stage, a verb: pure functions first, then a thin Prefect task."""
