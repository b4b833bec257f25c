"""Valid records for tests, each with one line to change."""

from datetime import UTC, datetime
from typing import Any

from orgmem.identity import digest, learning_id, memory_id
from schemas.batch import Claim, Item
from schemas.disposition import DECISIONS, Decision, Disposition, Stage
from schemas.learning import ApprovedVia, Hunk, Learning, Origin
from schemas.memory import Draft, Memory, Source, TrustEvidence
from schemas.verdict import Action, GateVerdict, Status

OBSERVED = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADDED = "Run `pytest -x --timeout=60` with the broker up; without it the tests hang.\n"


def a_hunk(after: str = ADDED, **changes: Any) -> Hunk:
    """One added line below a heading."""
    fields = {"heading_path": ("Testing",), "before": "", "after": after, "context_before": "# Testing\n"}
    return Hunk(**{**fields, **changes})


def a_learning(
    after: str = ADDED, *, path: str = "CLAUDE.md", project: str = "acme/payments", **changes: Any
) -> Learning:
    """An imported learning that adds `after`, with a patch that adds the same."""
    from orgmem.text.diff import line_hunks, make_patch

    before = "# Testing\n"
    fields: dict[str, Any] = {
        "id": learning_id(project, path, before, before + after),
        "origin": Origin.IMPORT,
        "approved_via": ApprovedVia.SCRIPT,
        "approved_at": OBSERVED,
        "observed_at": OBSERVED,
        "project": project,
        "path": path,
        "patch": make_patch(before, before + after),
        "hunks": line_hunks(before, before + after),
    }
    return Learning(**{**fields, **changes})


def a_draft(**changes: Any) -> Draft:
    """What a curator makes of `a_learning`."""
    fields = {
        "question": "How do I run the tests in payments?",
        "answer": ADDED.strip(),
        "example": "pytest -x --timeout=60",
        "heading_path": ("Testing",),
    }
    return Draft(**{**fields, **changes})


def an_item(ordinal: int = 0, learning: Learning | None = None, **changes: Any) -> Item:
    """The nth item of a learning, as enrich hands it on."""
    learning = learning or a_learning()
    fields: dict[str, Any] = {
        "id": memory_id(learning.id, ordinal),
        "learning_id": learning.id,
        "ordinal": ordinal,
        "draft": a_draft(),
        "trust": TrustEvidence(has_example=True, has_caveats=False, observed_at=OBSERVED),
    }
    return Item(**{**fields, **changes})


def a_claim(*learnings: Learning) -> Claim:
    """A batch of learnings, claimed by a curator with a name."""
    return Claim(batch_id="000001", run_id="run_1", curator="builtin/1", prompt_hash="rules", learnings=learnings)


def a_disposition(stage: Stage = Stage.ENRICH, decision: Decision | None = None, **changes: Any) -> Disposition:
    """A decision of a stage about its first item."""
    learning = a_learning()
    item_id = learning.id if stage is Stage.ENRICH else memory_id(learning.id, 0)
    fields: dict[str, Any] = {
        "id": f"dsp_{digest(stage, item_id)}",
        "stage": stage,
        "item": "learning" if stage is Stage.ENRICH else "memory",
        "item_id": item_id,
        "learning_id": learning.id,
        "decision": decision or min(DECISIONS[stage]),
        "reason": "because",
        "curator": "fake",
        "ruleset": "rules",
        "run_id": "run_1",
        "decided_at": OBSERVED,
    }
    return Disposition(**{**fields, **changes})


def a_memory(ordinal: int = 0, learning: Learning | None = None, **changes: Any) -> Memory:
    """The nth memory of a learning, as persist writes it."""
    learning = learning or a_learning()
    draft = a_draft()
    fields: dict[str, Any] = {
        **draft.model_dump(),
        "id": memory_id(learning.id, ordinal),
        "tools": ("pytest",),
        "types": ("command",),
        "project": learning.project,
        "sources": (
            Source(learning_id=learning.id, external_id="row-1", project=learning.project, path=learning.path),
        ),
        "trust": TrustEvidence(has_example=True, has_caveats=False, observed_at=OBSERVED),
        "observed_at": OBSERVED,
        "created_at": OBSERVED,
        "learning_id": learning.id,
        "ordinal": ordinal,
        "contributor": "person-1",
        "patch": learning.patch,
        "security_scan": GateVerdict(status=Status.SAFE, action=Action.PERSIST, categories={}, ruleset="rules"),
        "curator": "fake",
        "prompt_hash": "prompts",
    }
    return Memory(**{**fields, **changes})
