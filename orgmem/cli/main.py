"""`orgmem`: the verbs put together, and the one place where errors become one line and an exit code."""

import errno
import io
import json
import re
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import typer
from rich.console import Console

from orgmem import __version__
from orgmem.cli.console import printable
from orgmem.errors import OrgmemError

OURS = re.compile(r".*[/\\](?:orgmem|schemas|tasks|flows)[/\\](?!.*site-packages)")


VERBS = (
    *("init", "backfill", "capture", "review", "status"),
    *("import", "validate", "curate", "search", "show", "mcp", "gate", "eval", "snapshot", "sql"),
)


def build() -> typer.Typer:
    """The application with every verb registered."""
    from orgmem.cli import backfill, capture, curate, evaluate, gate, init, intake, search, snapshot

    app = typer.Typer(
        name="orgmem",
        help="Shared organizational memory for coding agents.",
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_callback)
    for module in (init, capture, backfill, intake, curate, search, gate, evaluate, snapshot):
        module.register(app)
    return app


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"orgmem {__version__}")
        raise typer.Exit


def _callback(
    version: bool = typer.Option(
        False, "--version", help="Print the version and exit.", is_eager=True, callback=_print_version
    ),
) -> None:
    """Shared organizational memory for coding agents."""


def run() -> NoReturn:
    """Entry point of the console script."""
    as_json = "--json" in sys.argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the rest
    try:
        words = sys.argv[1:] or ["--help"]
        code = typer.main.get_command(build()).main(words, prog_name="orgmem", standalone_mode=False) or 0
        sys.stdout.flush()
    except OrgmemError as error:
        code = fail(error.code, error.message, error.hint, error.exit_code, as_json)
    except typer.TyperException as error:
        code = fail("usage", error.format_message(), f"orgmem {verb_of(sys.argv)}--help", 2, as_json)
    except (KeyboardInterrupt, typer.Abort):
        code = fail("interrupted", "interrupted", "run the same command again: nothing is lost", 1, as_json)
    except BrokenPipeError:
        sys.stderr.close()
        code = 1
    except OSError as error:
        code = fail("io", _of_os_error(error), _hint_for(error), 1, as_json)
    except Exception as error:  # noqa: BLE001 - the last place where a mistake of ours can become one line
        code = fail(
            "internal",
            f"a mistake of ours: {_place_of(error)}",
            "orgmem --version, and report both",
            1,
            as_json,
        )
    sys.exit(code)


def verb_of(words: list[str]) -> str:
    """The verb that was asked for, with a blank behind it; empty where there is none."""
    verb = words[1] if len(words) > 1 else ""
    return f"{verb} " if verb in VERBS else ""


def fail(code: str, message: str, hint: str, exit_code: int, as_json: bool) -> int:
    """Say what failed and the next command to run; JSON on stdout where it was asked for.

    Returns:
        The exit code.
    """
    from orgmem.text.redact import redact

    line, hint = (printable(redact(" ".join(text.split())).text) for text in (message, hint))
    try:
        if as_json:
            print(
                json.dumps({"error": {"code": code, "message": line, "hint": hint}}, ensure_ascii=False),
                flush=True,
            )
    except OSError:
        as_json = False  # standard output is what is full
    if not as_json:
        Console(stderr=True, soft_wrap=True, highlight=False, markup=False).print(
            f"error: {line}" + (f"; next: {hint}" if hint else "")
        )
    return exit_code


def _place_of(error: BaseException) -> str:
    """Type and innermost place of ours; never the message, which may quote a learning."""
    ours = [frame for frame in traceback.extract_tb(error.__traceback__) if OURS.match(frame.filename)]
    place = f" at {Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else ""
    return f"{type(error).__name__}{place}"


def _of_os_error(error: OSError) -> str:
    where = f": {error.filename}" if error.filename else ""
    return f"{error.strerror or error}{where}"


def _hint_for(error: OSError) -> str:
    match error.errno:
        case errno.ENOSPC | errno.EDQUOT:
            return "free some space (df -h), then run the same command again"
        case errno.EACCES | errno.EPERM | errno.EROFS:
            where = f" ({Path(error.filename).parent})" if isinstance(error.filename, str) else ""
            return f"get the right to write there{where}, or set ORGMEM_HOME if it is that; then run it again"
        case errno.ENOENT:
            return "check the path, then run the same command again"
        case _:
            return "run the same command again"
