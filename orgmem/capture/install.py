"""Puts our entries into an assistant's files, and takes them out again, byte for byte.

All files are read and checked before the first is written; a failure half way puts back what was written. A
record in ORGMEM_HOME says what each file was, so that uninstalling restores it; where somebody has changed a
file since, or the record is lost, exactly our entries are taken out.
"""

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from filelock import FileLock

from orgmem.capture import claude_code as claude
from orgmem.capture.claude_code import Program
from orgmem.errors import InputError
from orgmem.identity import digest
from orgmem.settings import Settings, ensure_home
from orgmem.store.atomic import write_atomically
from schemas.record import Record

Scope = Literal["project", "local", "user"]
LONGEST = 8 * 1024 * 1024
BACKUP = ".orgmem-backup"


class Edit(NamedTuple):
    """A file as it is and as it shall be; none: not there."""

    path: Path
    before: bytes | None
    after: bytes | None


class Installed(Record):
    """What we did to a file."""

    path: str
    created: bool
    """It was not there before."""
    after: str
    """Digest of what we left; empty where the backup is older than what others wrote before we came again."""


class Receipt(Record):
    """Everything that is installed."""

    files: tuple[Installed, ...] = ()


def plan_install(scope: Scope, root: Path, home: Path, program: Program, *, lessons: bool) -> tuple[Edit, ...]:
    """What installing would change; nothing is written.

    Raises:
        InputError: a file is invalid, no text, too large or no file.
    """
    changes: list[tuple[Path, Callable[[str, str], str]]] = [
        (_settings(scope, root, home), lambda text, name: claude.with_hooks(text, name, program)),
        (_folder(scope, root, home) / "skills" / "orgmem" / "SKILL.md", lambda _text, _name: claude.SKILL),
    ]
    if scope == "project":
        changes.append((root / ".mcp.json", lambda text, name: claude.with_server(text, name, program)))
    if lessons:
        changes.append((_memory_file(root), lambda text, _name: claude.with_lessons(text)))
    return tuple(edit for path, change in changes if (edit := _edit(path, change)).before != edit.after)


def plan_uninstall(settings: Settings, scope: Scope, root: Path, home: Path) -> tuple[Edit, ...]:
    """What uninstalling would change; nothing is written."""
    known = {each.path: each for each in _receipt(settings).files}
    paths = {
        _settings(scope, root, home): claude.without_hooks,
        **({root / ".mcp.json": claude.without_server} if scope == "project" else {}),
        _folder(scope, root, home) / "skills" / "orgmem" / "SKILL.md": _without_skill,
        root / "CLAUDE.md": lambda text, _name: claude.without_lessons(text),
        root / "AGENTS.md": lambda text, _name: claude.without_lessons(text),
    }
    edits = []
    for path, change in paths.items():
        before = _bytes(path)
        if before is None:
            continue
        was, backup = known.get(str(path)), _bytes(_backup(path))
        untouched = was is not None and digest(before.decode("latin-1")) == was.after
        if was and untouched and (was.created or backup is not None):
            edits.append(Edit(path, before, None if was.created else backup))
        else:
            edits.append(_edit(path, change))
    return tuple(edit for edit in edits if edit.before != edit.after)


def apply(settings: Settings, edits: Sequence[Edit], *, install: bool) -> None:
    """Write all, or nothing.

    Raises:
        InputError: a file has changed since it was read, or its owner has made it read-only.
        OSError: it can't be written; what was written is put back.
    """
    ensure_home(settings)
    settings.capture_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with FileLock(settings.capture_folder / "install.lock"):
        done: list[Edit] = []
        backed_up = {edit.path for edit in edits if _backup(edit.path).exists()}
        try:
            for edit in edits:
                _refuse_if_changed(edit)
                _refuse_if_read_only(edit.path)
                done.append(edit)
                _put(edit, install=install)
            _keep(settings, done, install=install)
        except BaseException:
            for edit in reversed(done):
                _write(edit.path, edit.before)
                if edit.path not in backed_up:
                    _backup(edit.path).unlink(missing_ok=True)
            raise


def _refuse_if_changed(edit: Edit) -> None:
    if _bytes(edit.path) != edit.before:
        raise InputError(f"{edit.path} has just changed", "run the same command again")


def _refuse_if_read_only(path: Path) -> None:
    if path.exists() and not path.stat().st_mode & stat.S_IWUSR:
        raise InputError(f"{path} is read-only", f"chmod u+w {path}, then the same command again")


def _put(edit: Edit, *, install: bool) -> None:
    backup = _backup(edit.path)
    if install and edit.before is not None and not backup.exists():
        write_atomically(backup, edit.before)
        backup.chmod(edit.path.stat().st_mode & 0o777)
    _write(edit.path, edit.after)
    if not install:
        backup.unlink(missing_ok=True)


def _write(path: Path, data: bytes | None) -> None:
    target = path.resolve()  # through a link of somebody who keeps settings elsewhere
    if data is None:
        target.unlink(missing_ok=True)
        for folder in (path.parent, path.parent.parent, path.parent.parent.parent):
            if folder.name in {"orgmem", "skills", ".claude"} and not any(folder.iterdir()):
                folder.rmdir()
        return
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
    write_atomically(target, data)
    target.chmod(mode)


def _keep(settings: Settings, done: Iterable[Edit], *, install: bool) -> None:
    known = {each.path: each for each in _receipt(settings).files}
    for edit in done:
        was = known.pop(str(edit.path), None)
        if install and edit.after is not None:
            created = was.created if was else edit.before is None
            after = digest(edit.after.decode("latin-1")) if _is_restorable(edit, was) else ""
            known[str(edit.path)] = Installed(path=str(edit.path), created=created, after=after)
    receipt = Receipt(files=tuple(known[path] for path in sorted(known)))
    write_atomically(settings.capture_folder / "installed.json", receipt.model_dump_json().encode())


def _is_restorable(edit: Edit, was: Installed | None) -> bool:
    """Whether what we keep is what stood there before us, with nothing that others wrote since."""
    if edit.before is None:
        return True
    if was is None:
        return _bytes(_backup(edit.path)) == edit.before
    return digest(edit.before.decode("latin-1")) == was.after


def _receipt(settings: Settings) -> Receipt:
    try:
        return Receipt.model_validate_json((settings.capture_folder / "installed.json").read_bytes())
    except (OSError, ValueError):
        return Receipt()  # uninstalling then goes by our entries


def _edit(path: Path, change: Callable[[str, str], str]) -> Edit:
    before = _bytes(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is no UTF-8", "mend the file, then try again") from None
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    after = change(text.removeprefix(mark), str(path))
    return Edit(path, before, f"{mark}{after}".encode() if after else None)


def _bytes(path: Path) -> bytes | None:
    try:
        if path.is_symlink() and not path.exists():
            raise InputError(f"{path} is a link to nothing", f"ls -l {path}")
        with path.open("rb") as file:
            data = file.read(LONGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"can't read {path}: {error.strerror}", f"ls -ld {path}") from None
    if len(data) > LONGEST:
        raise InputError(f"{path} is larger than {LONGEST} bytes", f"ls -l {path}")
    return data


def _without_skill(text: str, _name: str) -> str:
    return "" if text == claude.SKILL else text


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def settings_files(root: Path, home: Path) -> tuple[Path, ...]:
    """Every settings file in which our hooks may stand."""
    return tuple(_settings(scope, root, home) for scope in ("user", "project", "local"))


def _folder(scope: Scope, root: Path, home: Path) -> Path:
    if scope == "user":
        return Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return root / ".claude"


def _settings(scope: Scope, root: Path, home: Path) -> Path:
    return _folder(scope, root, home) / ("settings.local.json" if scope == "local" else "settings.json")


def _memory_file(root: Path) -> Path:
    claude_md, agents_md = root / "CLAUDE.md", root / "AGENTS.md"
    return agents_md if agents_md.exists() and not claude_md.exists() else claude_md
