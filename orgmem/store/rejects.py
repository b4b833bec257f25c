"""Making rejects: what is kept of a row that is no learning, and its reason by field."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from orgmem.identity import digest
from orgmem.text.redact import redact
from schemas.learning import Reject

SAID = 5
"""How many problems of a row its reason names."""
KEPT_CHARS = 64 * 1024
"""How much of a rejected row is kept."""
_MARGIN = 4 * 1024
"""Read on behind the cut, so that a secret across it is seen whole and masked."""


class Problem(NamedTuple):
    """What is wrong with one field; never its value."""

    field: str
    message: str


def reject(
    source: str,
    line: int | None,
    reason: str,
    data: bytes,
    *,
    rejected_at: datetime,
    size: int = 0,
    sha256: str = "",
) -> Reject:
    """A reject of `data`, or of a larger row that begins with `data` and has this size and sha256."""
    sha256 = sha256 or hashlib.sha256(data).hexdigest()
    source = redact(source.encode("utf-8", "replace").decode()).text
    return Reject(
        id=f"rej_{digest(source, str(line), sha256)}",
        source=source,
        line=line,
        reason=reason,
        raw=_kept(data),
        size=max(size, len(data)),
        sha256=sha256,
        rejected_at=rejected_at,
    )


def reasons(error: ValidationError) -> tuple[Problem, ...]:
    """The problems that pydantic found."""
    return tuple(
        Problem(".".join(str(part)[:80] for part in each["loc"]) or "row", each["msg"])
        for each in error.errors(include_input=False, include_context=False, include_url=False)
    )


def in_one_line(problems: Sequence[Problem]) -> str:
    """`field: message; field: message`, the first five."""
    more = f"; and {len(problems) - SAID} more" if len(problems) > SAID else ""
    return "; ".join(f"{field}: {message}" for field, message in problems[:SAID]) + more


def _kept(data: bytes) -> str:
    text = data[: 4 * (KEPT_CHARS + _MARGIN)].decode("utf-8", "replace")
    if len(text) <= KEPT_CHARS:
        return redact(text).text
    return redact(text[: KEPT_CHARS + _MARGIN]).text[:-_MARGIN][:KEPT_CHARS]
