"""Tool tags and type tags of a text, by the registry in tags.toml.

Deterministic; a tag is only given for what stands in the text. Curation and retrieval share it.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from schemas.memory import Tags

MOST_TOOLS = 8
MOST_TYPES = 2

_FENCE = re.compile(r"^[ \t]*(?:`{3,}|~{3,})[ \t]*([\w+#.-]+)", re.MULTILINE)
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINE_START = re.compile(r"^[ \t]*(?:\$ |> )?([\w./-]+)(?= [^\s=:])", re.MULTILINE)
_PATH = re.compile(
    r"[\w@./*~-]*[\w*]\.\w{1,10}\b|[\w@./-]*/[\w.-]+|\b(?:Makefile|Dockerfile|Gemfile|CODEOWNERS|justfile)\b|\.[a-z][\w.-]+"
)
_EDGE = r"(?<![\w@/-])(?<!\w\.)(?:%s)(?![\w/-])(?!\.\w)"


@dataclass(frozen=True)
class _Tool:
    """One tool's ways of being named."""

    plain_word: bool = False
    aliases: tuple[str, ...] = ()
    exact: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Registry:
    """The tags there are and how each is recognised: alias, command, language or file to the tool's name."""

    tools: frozenset[str]
    types: Mapping[str, tuple[re.Pattern[str], ...]]
    weights: Mapping[str, int]
    names: Mapping[str, str] = field(repr=False)
    exact: Mapping[str, str] = field(repr=False)
    files: Mapping[str, str] = field(repr=False)
    languages: Mapping[str, tuple[str, ...]] = field(repr=False)
    commands: Mapping[str, str] = field(repr=False)
    name_pattern: re.Pattern[str] = field(repr=False)
    exact_pattern: re.Pattern[str] = field(repr=False)


@cache
def load_registry() -> Registry:
    """The registry that ships with the package."""
    return parse_registry((files("orgmem.text") / "tags.toml").read_text(encoding="utf-8"))


def parse_registry(toml: str) -> Registry:
    """A registry from the text of a TOML file in the shape of tags.toml."""
    data = tomllib.loads(toml)
    tools = {name: _tool(spec) for name, spec in data["tools"].items()}
    names = {
        alias.lower(): name for name, tool in tools.items() for alias in (*_own_name(name, tool), *tool.aliases)
    }
    exact = {alias: name for name, tool in tools.items() for alias in tool.exact}
    spoken: dict[str, tuple[str, ...]] = {}
    for name, tool in tools.items():
        for language in tool.languages:
            spoken[language] = (*spoken.get(language, ()), name)
    return Registry(
        tools=frozenset(tools),
        types={
            name: tuple(re.compile(cue, re.IGNORECASE | re.MULTILINE) for cue in spec["cues"])
            for name, spec in data["types"].items()
        },
        weights={name: spec["weight"] for name, spec in data["types"].items()},
        names=names,
        exact=exact,
        files={file: name for name, tool in tools.items() for file in tool.files},
        languages=spoken,
        commands={command: name for name, tool in tools.items() for command in tool.commands},
        name_pattern=_any_of(names, re.IGNORECASE),
        exact_pattern=_any_of(exact, re.NOFLAG),
    )


def tools_of(text: str, registry: Registry) -> tuple[str, ...]:
    """Tools the text names, the most often named first, at most MOST_TOOLS."""
    counts: dict[str, int] = {}
    for tool in _named(text, registry):
        counts[tool] = counts.get(tool, 0) + 1
    ranked = sorted(counts, key=lambda tool: (-counts[tool], tool))
    return tuple(ranked[:MOST_TOOLS])


def types_of(text: str, registry: Registry) -> tuple[str, ...]:
    """Types whose cues the text holds, strongest first; a second only with over half the first's cues."""
    hits = {name: sum(bool(cue.search(text)) for cue in cues) for name, cues in registry.types.items()}
    ranked = sorted(
        (name for name in hits if hits[name]), key=lambda name: (-hits[name], -registry.weights[name], name)
    )
    return tuple(name for name in ranked[:MOST_TYPES] if hits[name] * 2 > hits[ranked[0]])


def tags_of_query(query: str, registry: Registry) -> Tags:
    """What a query names: tools by name, file or command; a type only where the query says its word."""
    said = set(re.findall(r"[\w-]+", query.lower()))
    types = [
        name
        for name in registry.types
        if name in said or f"{name}s" in said or name.removesuffix("-behaviour") in said
    ]
    return Tags(tools=tuple(sorted(tools_of(query, registry))), types=tuple(sorted(types)))


def starts_command(line: str, registry: Registry) -> bool:
    """Whether the line's first word is a command of the registry."""
    return line.split(" ", 1)[0] in registry.commands


def _named(text: str, registry: Registry) -> Iterator[str]:
    for match in registry.name_pattern.finditer(text):
        yield registry.names[match[0].lower()]
    for match in registry.exact_pattern.finditer(text):
        yield registry.exact[match[0]]
    for match in _FENCE.finditer(text):
        yield from registry.languages.get(match[1].lower(), ())
    for first in _command_words(text):
        if first in registry.commands:
            yield registry.commands[first]
    for match in _PATH.finditer(text):
        if tool := _tool_of_file(match[0], registry):
            yield tool


def _command_words(text: str) -> Iterator[str]:
    for match in _SPAN.finditer(text):
        yield match[2].strip().removeprefix("$ ").split(" ", 1)[0]
    for match in _LINE_START.finditer(text):
        yield match[1]


def _tool_of_file(path: str, registry: Registry) -> str | None:
    name = path.rsplit("/", 1)[-1]
    if name in registry.files:
        return registry.files[name]
    return registry.files.get(f"*.{name.rsplit('.', 1)[-1]}") if "." in name else None


def _tool(spec: Mapping[str, Any]) -> _Tool:
    lists = {key: tuple(value) for key, value in spec.items() if key != "plain_word"}
    return _Tool(plain_word=bool(spec.get("plain_word")), **lists)


def _own_name(name: str, tool: _Tool) -> tuple[str, ...]:
    return () if tool.exact or tool.plain_word else (name,)


def _any_of(words: Iterable[str], flags: re.RegexFlag) -> re.Pattern[str]:
    longest_first = sorted(words, key=lambda word: (-len(word), word))
    return re.compile(_EDGE % "|".join(map(re.escape, longest_first)), flags)
