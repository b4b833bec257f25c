"""Tags by the registry."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.text.tags import (
    MOST_TOOLS,
    MOST_TYPES,
    load_registry,
    parse_registry,
    starts_command,
    tags_of_query,
    tools_of,
    types_of,
)

SMALL = """
[tools]
uv = { commands = ["uv"], files = ["uv.lock"] }
just = { plain_word = true, commands = ["just"], files = ["justfile"] }
go = { exact = ["Go"], files = ["*.go"], languages = ["go"] }
docker = { aliases = ["docker compose"] }
[types.command]
weight = 1
cues = ['\\bcommands?\\b', '\\brun\\b']
[types.policy]
weight = 2
cues = ['\\bnever\\b']
"""
REGISTRY = parse_registry(SMALL)


@pytest.mark.parametrize(
    ("text", "tools"),
    [
        ("We use uv here.", {"uv"}),
        ("Run `uv sync` twice.", {"uv"}),
        ("Commit uv.lock with it.", {"uv"}),
        ("The uvicorn server and uv-like names.", set()),
        ("It just works.", set()),
        ("Run `just build`.", {"just"}),
        ("$ just build all\n", {"just"}),
        ("Edit the justfile.", {"just"}),
        ("Go is fast.", {"go"}),
        ("Let it go.", set()),
        ("See cmd/main.go for it.", {"go"}),
        ("```go\nx := 1\n```", {"go"}),
        ("Start it with Docker Compose.", {"docker"}),
    ],
)
def test_a_tool_is_known_by_name_command_file_or_fence(text: str, tools: set[str]) -> None:
    assert set(tools_of(text, REGISTRY)) == tools


def test_types_come_from_their_cues_and_a_weaker_one_does_not_ride_along() -> None:
    assert types_of("Never do it.", REGISTRY) == ("policy",)
    assert types_of("Run the command.", REGISTRY) == ("command",)
    assert types_of("Nothing to see.", REGISTRY) == ()


def test_a_query_names_its_tools_and_only_the_types_it_says() -> None:
    tags = tags_of_query("Which command installs with uv?", REGISTRY)
    assert (tags.tools, tags.types) == (("uv",), ("command",))
    assert tags_of_query("how do I run it", REGISTRY).types == ()


def test_a_command_line_is_told_by_its_first_word() -> None:
    assert starts_command("uv sync --frozen", REGISTRY)
    assert not starts_command("sync uv", REGISTRY)


def test_the_shipped_registry_has_the_types_of_the_design() -> None:
    assert set(load_registry().types) == {
        "convention",
        "workflow",
        "architecture",
        "policy",
        "command",
        "pitfall",
        "api-behaviour",
        "configuration",
    }


def test_every_alias_of_the_shipped_registry_leads_to_its_tool() -> None:
    registry = load_registry()
    named = {**registry.names, **registry.exact}
    assert all(tool in tools_of(f"About {alias} here", registry) for alias, tool in named.items())


@given(st.text())
def test_tags_are_bounded_and_from_the_registry(text: str) -> None:
    registry = load_registry()
    tools, types = tools_of(text, registry), types_of(text, registry)
    assert set(tools) <= registry.tools
    assert set(types) <= set(registry.types)
    assert len(tools) <= MOST_TOOLS
    assert len(types) <= MOST_TYPES
