"""Edits for the builtin curator's tests: two texts become a learning by the real diff."""

from orgmem.identity import learning_id
from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Enriched, Nothing, NothingReason
from orgmem.text.diff import line_hunks, make_patch
from schemas.learning import Learning
from schemas.memory import Draft
from tests.samples import OBSERVED, a_learning

PROJECT, PATH = "acme/payments", "AGENTS.md"


def an_edit(before: str, after: str, *, project: str = PROJECT, path: str = PATH) -> Learning:
    """The learning that turns one text into the other."""
    return a_learning(
        path=path,
        project=project,
        id=learning_id(project, path, before, after),
        patch=make_patch(before, after),
        hunks=line_hunks(before, after),
        observed_at=OBSERVED,
    )


def drafts_of(before: str, after: str, *, path: str = PATH) -> tuple[Draft, ...]:
    """What the builtin curator makes of the edit; it must make something."""
    enrichment = BuiltinCurator().enrich(an_edit(before, after, path=path))
    assert isinstance(enrichment, Enriched), enrichment
    return enrichment.drafts


def reason_of(before: str, after: str) -> NothingReason:
    """Why the builtin curator makes nothing of the edit; it must make nothing."""
    enrichment = BuiltinCurator().enrich(an_edit(before, after))
    assert isinstance(enrichment, Nothing), enrichment
    return enrichment.reason
