"""Ids from content, and the clock and run id that a run hands down."""

import hashlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def now() -> datetime:
    """The current moment in UTC: the clock that entry points pass down."""
    return datetime.now(UTC)


def digest(*parts: str) -> str:
    """24 hex digits of SHA-256 over the parts, each with its length, so that no two lists of parts meet."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        whole.update(len(data).to_bytes(8, "big"))
        whole.update(data)
    return whole.hexdigest()[:24]


def learning_id(project: str, path: str, before: str, after: str) -> str:
    """Id of an edit: the same project, path and masked texts are the same learning."""
    return f"lrn_{digest(project, path, before, after)}"


def memory_id(learning: str, ordinal: int) -> str:
    """Id of the nth memory (from 0) of a learning."""
    return f"mem_{digest(learning, str(ordinal))}"


def run_id() -> str:
    """A random id for one run of a flow."""
    return f"run_{secrets.token_hex(6)}"
