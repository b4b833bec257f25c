"""Checkpoint: Great Expectations over a batch, before the first stage and before memories are persisted.

Input: a batch's learnings, or its items after tag. Output: ids of rows that fail, each with the name of the
first expectation that it fails. Promise: one bad row never stops a batch; nothing of it but its id gets out.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from orgmem.errors import StoreError
from orgmem.text.tags import load_registry
from schemas.batch import Item
from schemas.disposition import Stage
from schemas.learning import Learning
from schemas.verdict import Action
from tasks.bench import Bench
from tasks.stage import retryable

Expectations = dict[str, Any]
"""Great Expectations' expectations by our names, in the order in which a failing row is named after them."""
Unfit = dict[str, str]
"""Id of each row that fails, with its reason: `expectation:<name>`."""

AHEAD = timedelta(days=1)
"""How far a client's clock may be ahead of the run's."""
MOST_HUNKS = 10_000
MOST_PATCH_CHARS = 16 * 1024 * 1024
SHORTEST_QUESTION = 12
"""Characters from which on a question may do without a question mark."""
LONGEST_QUESTION = 1_000
LONGEST_ANSWER = 20_000
_CONTROL = r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"


def unfit_learnings(learnings: Sequence[Learning], moment: datetime) -> Unfit:
    """Learnings that fail an expectation; `moment` is the run's clock."""
    rows = [
        {
            "id": learning.id,
            "project": learning.project.strip(),
            "path": learning.path.strip(),
            "hunks": len(learning.hunks),
            "patch_chars": len(learning.patch.strip()),
            "seconds_ahead": (learning.observed_at - moment).total_seconds(),
        }
        for learning in learnings
    ]
    return _unfit("learnings", rows, learning_expectations)


def unfit_items(items: Sequence[Item]) -> Unfit:
    """Memories in the making that fail an expectation."""
    return _unfit("memories", [_item_row(item) for item in items], item_expectations)


def _item_row(item: Item) -> dict[str, object]:
    draft = item.draft
    return {
        "id": item.id,
        "question": draft.question.strip(),
        "answer": draft.answer.strip(),
        "text": "\n".join((draft.question, draft.answer, draft.example or "", *draft.caveats)),
        "types": ",".join(item.tags.types) if item.tags else "",
        "tools": ",".join(item.tags.tools) if item.tags else "",
        "action": item.verdict.action.value if item.verdict else "",
    }


def learning_expectations(gxe: Any) -> Expectations:
    """What is expected of the raw batch; `gxe` is the module great_expectations.expectations."""
    return {
        "id_is_given": gxe.ExpectColumnValuesToNotBeNull(column="id"),
        "id_is_well_formed": gxe.ExpectColumnValuesToMatchRegex(column="id", regex=r"\Alrn_[0-9a-f]{24}\Z"),
        "id_is_unique": gxe.ExpectColumnValuesToBeUnique(column="id"),
        "project_is_given": gxe.ExpectColumnValueLengthsToBeBetween(column="project", min_value=1),
        "path_is_given": gxe.ExpectColumnValueLengthsToBeBetween(column="path", min_value=1),
        "hunks_are_bounded": gxe.ExpectColumnValuesToBeBetween(column="hunks", min_value=1, max_value=MOST_HUNKS),
        "patch_is_bounded": gxe.ExpectColumnValuesToBeBetween(
            column="patch_chars", min_value=1, max_value=MOST_PATCH_CHARS
        ),
        "observed_at_is_not_ahead": gxe.ExpectColumnValuesToBeBetween(
            column="seconds_ahead", max_value=AHEAD.total_seconds()
        ),
    }


def item_expectations(gxe: Any) -> Expectations:
    """What is expected of memories before they are persisted; `gxe` as above."""
    types = "|".join(sorted(load_registry().types))
    asks = rf"(?s)\A(?:.*\?|.{{{SHORTEST_QUESTION},}})\Z"
    return {
        "id_is_well_formed": gxe.ExpectColumnValuesToMatchRegex(column="id", regex=r"\Amem_[0-9a-f]{24}\Z"),
        "id_is_unique": gxe.ExpectColumnValuesToBeUnique(column="id"),
        "verdict_lets_pass": gxe.ExpectColumnValuesToBeInSet(
            column="action", value_set=[Action.PERSIST.value, Action.REWRITE.value]
        ),
        "question_asks": gxe.ExpectColumnValuesToMatchRegex(column="question", regex=asks),
        "question_is_bounded": gxe.ExpectColumnValueLengthsToBeBetween(
            column="question", max_value=LONGEST_QUESTION
        ),
        "question_is_unmasked": gxe.ExpectColumnValuesToNotMatchRegex(column="question", regex=r"\[masked"),
        "answer_is_bounded": gxe.ExpectColumnValueLengthsToBeBetween(
            column="answer", min_value=1, max_value=LONGEST_ANSWER
        ),
        "text_is_printable": gxe.ExpectColumnValuesToNotMatchRegex(column="text", regex=_CONTROL),
        "types_are_registered": gxe.ExpectColumnValuesToMatchRegex(
            column="types", regex=rf"\A(?:{types})(?:,(?:{types}))*\Z"
        ),
        "tools_are_given": gxe.ExpectColumnValueLengthsToBeBetween(column="tools", min_value=1),
    }


def _unfit(name: str, rows: Sequence[dict[str, Any]], expectations: Callable[[Any], Expectations]) -> Unfit:
    """The checkpoint itself, in a context of its own: a shared one is not thread-safe."""
    if not rows:
        return {}
    import great_expectations as gx
    import pandas as pd

    expected = expectations(gx.expectations)
    for label, expectation in expected.items():
        expectation.meta = {"name": label}
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    frame = pd.DataFrame(rows).assign(row=range(len(rows)))
    asset = context.data_sources.add_pandas(name).add_dataframe_asset(name)
    suite = context.suites.add(gx.ExpectationSuite(name=name, expectations=list(expected.values())))
    definition = gx.ValidationDefinition(
        name=name, data=asset.add_batch_definition_whole_dataframe(name), suite=suite
    )
    checkpoint = gx.Checkpoint(
        name=name,
        validation_definitions=[context.validation_definitions.add(definition)],
        result_format={"result_format": "COMPLETE", "unexpected_index_column_names": ["row"]},
    )
    outcome: Any = context.checkpoints.add(checkpoint).run(batch_parameters={"dataframe": frame})
    failing = {
        result.expectation_config.meta["name"]: _failing_rows(result)
        for validation in outcome.run_results.values()
        for result in validation.results
        if not result.success
    }
    reasons = {row: label for label in reversed(expected) for row in failing.get(label, ())}
    return {rows[row]["id"]: f"expectation:{reasons[row]}" for row in sorted(reasons)}


def _failing_rows(result: Any) -> tuple[int, ...]:
    found = result.result.get("unexpected_index_list")
    if not found:
        raise StoreError(
            f"expectation {result.expectation_config.meta['name']} was not evaluated",
            "run the same command again",
        )
    return tuple(int(place["row"]) for place in found)


@retryable("check-learnings")
def check_learnings(bench: Bench, batch_id: str) -> Unfit:
    """Unfit learnings of a batch."""
    return unfit_learnings(bench.journal.claim(batch_id).learnings, bench.clock())


@retryable("check-items")
def check_items(bench: Bench, batch_id: str) -> Unfit:
    """Unfit memories of a batch, as tag has left them."""
    return unfit_items(bench.journal.read(batch_id, Stage.TAG).items)
