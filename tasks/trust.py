"""Trust a memory: gather the evidence, never a score.

Input: a draft and its learning. Output: TrustEvidence without votes. Promise: facts only; the score is
derived when read, from the moment the edit was observed.
"""

from schemas.batch import Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import Draft, TrustEvidence
from tasks.bench import Bench
from tasks.gate.verdict import is_ours
from tasks.stage import Step, result_of, retryable

RULES = "trust/1"


def trust_of(draft: Draft, learning: Learning) -> TrustEvidence:
    """Whether the draft has an example and caveats, and when its edit was made."""
    return TrustEvidence(
        has_example=bool(draft.example),
        has_caveats=not all(map(is_ours, draft.caveats)),  # the gate's are no merit of the author
        observed_at=learning.observed_at,
    )


def step_of(item: Item, learning: Learning) -> Step:
    """The item with its evidence."""
    scored = item.model_copy(update={"trust": trust_of(item.draft, learning)})
    return Step(item.id, item.learning_id, Decision.SCORED, "evidence", onward=(scored,))


@retryable("trust")
def trust(bench: Bench, batch_id: str) -> None:
    """Gather evidence for a batch."""
    learnings = bench.journal.claim(batch_id).by_id
    items = bench.journal.read(batch_id, Stage.GATE).items
    steps = [step_of(item, learnings[item.learning_id]) for item in items]
    bench.journal.write(batch_id, Stage.TRUST, result_of(Stage.TRUST, steps, bench, RULES))
