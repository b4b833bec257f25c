"""Tags of a draft."""

from orgmem.text.tags import load_registry
from tasks.tag import NO_TOOL, NO_TYPE, tag_item
from tests.samples import a_draft, a_learning


def test_the_tools_and_types_of_the_draft_are_its_tags() -> None:
    draft = a_draft(question="How do I run one test?", answer="Run `uv run pytest -k name`.", example=None)
    tags = tag_item(draft, a_learning(), load_registry())
    assert {"pytest", "uv"} <= set(tags.tools)
    assert "command" in tags.types


def test_headings_and_project_name_a_tool_only_where_the_text_names_none() -> None:
    registry = load_registry()
    vague = a_draft(question="What about it?", answer="Words.", example=None, heading_path=("Docker images",))
    assert tag_item(vague, a_learning(), registry).tools == ("docker",)
    clear = a_draft(question="What about it?", answer="Use `uv sync`.", example=None, heading_path=("Docker",))
    assert tag_item(clear, a_learning(), registry).tools == ("uv",)


def test_no_dimension_stays_empty() -> None:
    draft = a_draft(question="What about it?", answer="Words.", example=None, heading_path=())
    tags = tag_item(draft, a_learning(path="NOTES"), load_registry())
    assert (tags.tools, tags.types) == ((NO_TOOL,), (NO_TYPE,))


def test_tags_are_sorted_and_the_same_each_time() -> None:
    draft = a_draft(answer="Use `pnpm test`, then `git push` and `docker build .` with Python.")
    tags = tag_item(draft, a_learning(), load_registry())
    assert list(tags.tools) == sorted(tags.tools)
    assert tags == tag_item(draft, a_learning(), load_registry())
