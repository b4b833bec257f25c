"""`orgmem init`: hooks, MCP entry and skill for a coding assistant, and their removal."""

import difflib
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orgmem.cli.console import Json, emit_json, load_settings, printable, remark
from orgmem.errors import NotFoundError, UsageError

if TYPE_CHECKING:
    from orgmem.capture.claude_code import Program
    from orgmem.capture.install import Edit, Scope
    from orgmem.settings import Settings

TARGETS = ("claude-code",)


def register(app: typer.Typer) -> None:
    """Add the verb."""
    app.command("init")(init)


def init(
    target: Annotated[str, typer.Option(help="The assistant: claude-code.")],
    scope: Annotated[
        str, typer.Option(help="project, local (this machine only) or user (all projects).")
    ] = "project",
    write_lessons: Annotated[
        bool, typer.Option("--write-lessons", help="Tell the assistant in CLAUDE.md where lessons go.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take everything out again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes; write nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="For scripts; nothing is asked anyway.")] = False,  # noqa: ARG001
    as_json: Json = False,
) -> None:
    """Install hooks, MCP server and skill for an assistant, here or with --scope user for all projects.

    For a scope other than project the MCP server is left to Claude Code's own command, which is printed.
    What others wrote stays byte for byte; a backup lies beside each changed file.
    """
    from orgmem.capture import install

    settings, root = load_settings(), _root()
    wanted = _scope(scope)
    if target not in TARGETS:
        known = ", ".join(TARGETS)
        raise UsageError(f"target {target!r} is not known: {known}", "orgmem init --target claude-code")
    if uninstall:
        edits = install.plan_uninstall(settings, wanted, root, Path.home())
    else:
        edits = install.plan_install(wanted, root, Path.home(), _program(settings), lessons=write_lessons)
    if not dry_run:
        install.apply(settings, edits, install=not uninstall)
    if as_json:
        emit_json({"dry_run": dry_run, "uninstall": uninstall, "files": [str(edit.path) for edit in edits]})
    else:
        _print(edits, dry_run=dry_run, uninstall=uninstall)
    if not (uninstall or as_json):
        _say_what_is_left(_program(settings), wanted, dry_run=dry_run)


def _say_what_is_left(program: "Program", scope: "Scope", *, dry_run: bool) -> None:
    if scope == "project":
        remark("these files name paths of this machine: before you commit them, think of --scope local")
    else:
        remark(f"the MCP server is not installed by this: {_by_hand(program, scope)}")
    if not dry_run:
        remark("next: start a session here; orgmem status says when its hooks run")


def _print(edits: "tuple[Edit, ...]", *, dry_run: bool, uninstall: bool) -> None:
    for edit in edits:
        if dry_run:
            print(printable("".join(_diff(edit))), end="")
        else:
            word = "removed" if edit.after is None else "made" if edit.before is None else "changed"
            print(printable(f"{word}  {edit.path}"))
    if not edits:
        print("nothing to remove" if uninstall else "nothing to change: all is installed")
    elif dry_run:
        remark("nothing was written")


def _diff(edit: "Edit") -> list[str]:
    old, new = (_lines(data) for data in (edit.before, edit.after))
    lines = difflib.unified_diff(old, new, str(edit.path), str(edit.path))
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", "replace").splitlines(keepends=True)


def _by_hand(program: "Program", scope: "Scope") -> str:
    """Claude Code's command for its own file, which it writes all the time: no place to edit from outside."""
    home = ("--env", f"ORGMEM_HOME={program.home}") if program.home else ()
    return shlex.join(
        ("claude", "mcp", "add", "orgmem", "--scope", scope, *home, "--", str(program.orgmem), "mcp")
    )


def _scope(scope: str) -> "Scope":
    match scope:
        case "project" | "local" | "user":
            return scope
        case _:
            raise UsageError(f"scope {scope!r} is none of: project, local, user", "orgmem init --help")


def _root() -> Path:
    from orgmem.capture.project import checkout_of

    here = checkout_of(str(Path.cwd()))
    return Path(here.root) if here else Path.cwd()


def _program(settings: "Settings") -> "Program":
    from orgmem.capture.claude_code import HOOK, Program
    from orgmem.settings import Settings as Defaults

    folder = Path(sys.executable).parent
    default = Path(str(Defaults.model_fields["home"].default)).expanduser()
    if not (folder / HOOK).exists():
        raise NotFoundError(f"there is no {folder / HOOK}", "install orgmem again, then orgmem init")
    return Program(folder / HOOK, folder / "orgmem", None if settings.home == default else str(settings.home))
