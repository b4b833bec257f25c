"""The gate: one file a category of risk, and the verdict over them."""
