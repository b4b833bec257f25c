"""What crosses a stage, a disk or a process boundary: frozen pydantic models, nouns only."""
