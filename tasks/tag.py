"""Tag a memory: which tools it is about and of which type it is.

Input: a draft and its learning. Output: Tags, sorted, each from the registry. Promise: no dimension stays
empty (`general`, `convention`), and the same draft gets the same tags.
"""

from pathlib import PurePosixPath

from orgmem.text.tags import Registry, load_registry, tools_of, types_of
from schemas.batch import Item
from schemas.disposition import Decision, Stage
from schemas.learning import Learning
from schemas.memory import Draft, Tags
from tasks.bench import Bench
from tasks.stage import Step, result_of, retryable

RULES = "tag/1"
"""Goes up with each change of the registry or of what follows."""
NO_TOOL = "general"
NO_TYPE = "convention"


def tag_item(draft: Draft, learning: Learning, registry: Registry) -> Tags:
    """Tags of the draft's own text; headings, project and folder name tools only where the text names none."""
    text = "\n".join([draft.question, draft.answer, draft.example or "", *draft.caveats])
    # The file is a memory file: its name tells nothing, its folder may.
    folder = str(PurePosixPath(learning.path).parent)
    around = "\n".join([*draft.heading_path, learning.project.replace("/", " "), folder])
    tools = tools_of(text, registry) or tools_of(around, registry) or (NO_TOOL,)
    types = types_of(text, registry) or (NO_TYPE,)
    return Tags(tools=tuple(sorted(tools)), types=tuple(sorted(types)))


def step_of(item: Item, tags: Tags) -> Step:
    """The item with its tags; the reason tells whether a dimension took its fallback."""
    generic = tags.tools == (NO_TOOL,)
    tagged = item.model_copy(update={"tags": tags})
    return Step(item.id, item.learning_id, Decision.TAGGED, "generic" if generic else "tagged", onward=(tagged,))


@retryable("tag")
def tag(bench: Bench, batch_id: str) -> None:
    """Tag a batch."""
    learnings = bench.journal.claim(batch_id).by_id
    registry = load_registry()
    items = bench.journal.read(batch_id, Stage.TRUST).items
    steps = [step_of(item, tag_item(item.draft, learnings[item.learning_id], registry)) for item in items]
    bench.journal.write(batch_id, Stage.TAG, result_of(Stage.TAG, steps, bench, RULES))
