"""An approved candidate as the learning that leaves: patch and hunks from its masked texts, and provenance."""

from datetime import UTC, datetime

from orgmem import __version__
from orgmem.capture.state.candidates import Candidate
from orgmem.errors import IntegrityError
from orgmem.identity import learning_id
from orgmem.text.diff import line_hunks, make_patch
from schemas.learning import ApprovedVia, Learning, Origin


def learning_of(candidate: Candidate, *, approved_at: float) -> Learning:
    """The learning of an approved candidate; the same candidate gives the same learning.

    `approved_at` is in seconds since 1970.

    Raises:
        IntegrityError: the candidate's texts are not those from which its id was made, or nobody approved it.
        ValidationError: project, path or times can't stand in a learning.
    """
    change = candidate.change
    if learning_id(change.project, change.path, change.before, change.after) != change.learning_id:
        raise IntegrityError(
            f"the texts of candidate {candidate.id} are not those of {change.learning_id}", "orgmem capture doctor"
        )
    if candidate.via is None:
        raise IntegrityError(f"candidate {candidate.id} has no approval", "orgmem review")
    return Learning(
        id=change.learning_id,
        origin=Origin(change.origin),
        approved_via=ApprovedVia(candidate.via),
        approved_at=_moment(approved_at),
        observed_at=_moment(change.observed_at),
        project=change.project,
        path=change.path,
        patch=make_patch(change.before, change.after),
        hunks=line_hunks(change.before, change.after),
        masked=change.masked,
        client=f"orgmem {__version__}",
        commit=change.commit_id,
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
