"""The words and hosts of the dependency check."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True)
class Rules:
    """What dependency.toml says."""

    affixes: frozenset[str]
    ends_of_phrase: frozenset[str]
    options: dict[str, frozenset[str]]
    """Ecosystem -> options that take the next word."""
    hosts: frozenset[str]


@cache
def rules() -> Rules:
    """The rules, read once."""
    table = tomllib.loads(files("tasks.gate").joinpath("dependency.toml").read_text("utf-8"))
    return Rules(
        affixes=frozenset(table["affixes"].split()),
        ends_of_phrase=frozenset(table["ends_of_phrase"].split()),
        options={ecosystem: frozenset(words.split()) for ecosystem, words in table["options"].items()},
        hosts=frozenset(f"{host}.{domain}" for domain, hosts in table["hosts"].items() for host in hosts),
    )
