"""What verbs share: settings from the options, data on stdout, progress and remarks on stderr."""

import contextlib
import json
import sys
from contextlib import AbstractContextManager
from typing import Annotated, Any

import typer
from rich.console import Console

from orgmem.settings import Settings, ensure_home, quiet_libraries

Json = Annotated[bool, typer.Option("--json", help="Print JSON, errors too.")]

stderr = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)


def load_settings(*, make_home: bool = False) -> Settings:
    """The settings of this process, with every library's state and telemetry settled before its import."""
    settings = Settings.load()
    quiet_libraries(settings)
    if make_home:
        ensure_home(settings)
    return settings


def away_from_here() -> AbstractContextManager[None]:
    """Leave the current folder: libraries read settings (`.env`, `prefect.toml`) from it, whoever wrote them."""
    return contextlib.chdir("/")


def printable(text: str) -> str:
    """The text with every character that could steer a terminal as its escape; line ends and tabs stay."""
    return "".join(char if char.isprintable() or char in "\n\t" else ascii(char)[1:-1] for char in text)


def number_of(count: int, noun: str) -> str:
    """How many there are: 1 edit, 2 edits."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def emit_json(data: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, default=str) + "\n")


def remark(text: str) -> None:
    """One line on stderr."""
    stderr.print(printable(text))
