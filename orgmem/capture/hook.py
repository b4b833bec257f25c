"""`orgmem-hook EVENT [--home DIR]`: spools what the assistant says as a wake, and starts a reconcile.

It runs while the assistant waits, after every edit: standard library only, and little of that. Nobody looks into
the payload, except at Stop. Whatever happens the exit code is 0 and stdout empty, but for one JSON object: the
question at Stop, a warning at SessionStart. A fault is a line of hook-errors.log, which a reconcile turns into a
notice.
"""

# The imports of pathlib and contextlib are not free, and all of this runs while the assistant waits.
# ruff: noqa: SIM105, PTH100, PTH103, PTH104, PTH108, PTH109, PTH110, PTH111, PTH118, PTH123
import fcntl
import os
import select
import sys
import time

OFF = frozenset(("0", "f", "false", "n", "no", "off"))
"""Values of ORGMEM_CAPTURE that switch capture off, as the settings read them."""
CAPTURE, SPOOL, DATABASE = "capture", "spool", "capture.db"
LOCK, WARNING, ERRORS = "reconcile.lock", "session-start.json", "hook-errors.log"
FORMAT, SUFFIX = b"orgmem wake 1", ".wake"
"""How a wake's file begins, and how its name ends."""
MOST_KEPT = 8 * 2**20
"""Bytes of a payload that are kept."""
MOST_READ = 256 * 2**20
"""Bytes that are read, so that whoever writes more than is kept gets no broken pipe."""
SILENT_SECONDS, READING_SECONDS = 2.0, 8.0
"""How long stdin may say nothing, and how long reading it may take: less than assistants wait for a hook."""
LOCKED_MILLISECONDS = 1000
"""How long a question waits for a reconcile that writes."""
LONGEST_WARNING, LONGEST_LOG = 10_000, 16_384
"""Bytes of a warning that is printed, and of faults after which their log begins anew."""
NICENESS = 10
"""By how much a reconcile stands back behind the assistant's own work."""


def main() -> None:
    """Do what the command line says, in a process that has nothing to do after that. Never raises."""
    if os.environ.get("ORGMEM_CAPTURE", "").lower() in OFF:
        return
    event, home = _asked(sys.argv[1:])
    try:
        _attend(event, _absolute(home))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the assistant is not to be bothered with it
        _log(os.path.join(home, CAPTURE, ERRORS), event, error)


def packed(said: tuple[str, str, str, str], at: int, payload: bytes, *, whole: bool) -> bytes:
    """Content of a wake's file; `said`: event, cwd, project folder, entrypoint; `at`: nanoseconds since 1970.

    Fields end with NUL, which no argument, path or variable contains. The payload's length shows whether all of
    it had reached the disk when the power went.
    """
    fields = (*said, str(at), str(int(whole)), str(len(payload)))
    return b"\0".join((FORMAT, *map(os.fsencode, fields), payload))


def _attend(event: str, home: str) -> None:
    """Spool first: whatever is killed after that, the next reconcile finds the wake."""
    folder = os.path.join(home, CAPTURE)
    payload, whole = _standard_input()
    cwd, entrypoint, at = _current_folder(), os.environ.get("CLAUDE_CODE_ENTRYPOINT", ""), time.time_ns()
    said = (event, cwd, os.environ.get("CLAUDE_PROJECT_DIR", ""), entrypoint)
    _spool(home, f"{at:020}-{os.getpid()}", packed(said, at, payload, whole=whole))
    try:
        if event == "SessionStart":
            _print(_warning(folder))
        elif event == "Stop" and whole:
            _print(_question(folder, payload, cwd, entrypoint))
    finally:
        if _is_free(os.path.join(folder, LOCK)):
            _start_reconcile(home)


def _asked(words: list[str]) -> tuple[str, str]:
    """The event, and the home as it was given."""
    event, home, rest = "", "", iter(words)
    for word in rest:
        if word == "--home":
            home = next(rest, "")
        elif word.startswith("--home="):
            home = word.removeprefix("--home=")
        else:
            event = event or word
    return event, os.path.expanduser(home or os.environ.get("ORGMEM_HOME") or "~/.orgmem")


def _absolute(home: str) -> str:
    """The home from the root. An address, or a `~` that is nobody's, must not become a folder of the project."""
    if home.startswith("~") or home.partition("/")[0].endswith(":"):
        raise OSError(f"no folder: {home}")
    return os.path.abspath(home)


def _standard_input() -> tuple[bytes, bool]:
    """The first bytes of stdin, and whether that is all. Nobody waits for a terminal."""
    kept, length, until = [b""], 0, time.monotonic() + READING_SECONDS
    try:
        if os.isatty(0):
            return b"", True
        while length < MOST_READ and _is_ready(until):
            if not (chunk := os.read(0, 2**16)):
                return b"".join(kept), length <= MOST_KEPT
            kept.append(chunk[: max(0, MOST_KEPT - length)])
            length += len(chunk)
    except OSError:
        pass  # closed, or a folder: that something has happened is still worth a wake
    return b"".join(kept), False


def _is_ready(until: float) -> bool:
    """Whether stdin has something to read or has ended; false when it has been silent for too long."""
    patience = max(0.0, min(SILENT_SECONDS, until - time.monotonic()))
    return bool(select.select([0], [], [], patience)[0])


def _current_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # a worktree that was removed meanwhile
        return ""


def _spool(home: str, name: str, wake: bytes) -> None:
    """Write a wake's file, whole or not at all.

    Nobody waits for the disk: a power cut may take the wake away, which is only a hint, and not what was edited.
    """
    spool = os.path.join(home, CAPTURE, SPOOL)
    aside = os.path.join(spool, f".{name}")
    try:
        handle = _created(aside)
    except FileNotFoundError:
        for folder in (home, os.path.join(home, CAPTURE), spool):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        handle = _created(aside)
    try:
        with open(handle, "wb") as file:
            file.write(wake)
        os.rename(aside, os.path.join(spool, name + SUFFIX))
    except BaseException:
        os.unlink(aside)
        raise


def _created(file: str) -> int:
    return os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)


def _warning(folder: str) -> bytes:
    """What the last reconcile has laid out; what is no JSON object would reach the model."""
    try:
        with open(os.path.join(folder, WARNING), "rb") as file:
            text = file.read(LONGEST_WARNING + 1)
    except FileNotFoundError:
        return b""
    return text if text.startswith(b"{") and len(text) <= LONGEST_WARNING else b""


def _question(folder: str, payload: bytes, cwd: str, entrypoint: str) -> bytes:
    """What is to be asked at Stop."""
    if not os.path.exists(os.path.join(folder, DATABASE)):
        return b""
    from orgmem.capture.payloads import parse
    from orgmem.capture.question import stop_output
    from orgmem.capture.state.database import connect

    db = connect(folder)
    try:
        db.execute(f"pragma busy_timeout={LOCKED_MILLISECONDS}")
        output = stop_output(db, parse("Stop", payload, cwd=cwd, entrypoint=entrypoint), time.time())
    finally:
        db.close()
    return (output or "").encode()


def _print(text: bytes) -> None:
    if text and sys.stdout:
        sys.stdout.buffer.write(text)
        sys.stdout.buffer.flush()


def _is_free(lock: str) -> bool:
    """Whether no reconcile runs. One that runs looks into the spool once more at its end."""
    handle = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(handle)
    return True


def _start_reconcile(home: str) -> None:
    """Start it in a session of its own, holding nothing of the assistant's; this process gives up the same."""
    os.chdir("/")
    os.closerange(3, 256)
    command = (sys.executable, "-P", "-m", "orgmem.capture")
    environment = {**os.environ, "ORGMEM_HOME": home, "ORGMEM_CAPTURE": "0"}
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    try:
        child = os.posix_spawn(sys.executable, command, environment, file_actions=nowhere, setsid=True)
    except NotImplementedError:  # older systems start no session that way; by fork it takes a few ms longer
        child = _forked(command, environment)
    try:
        os.setpriority(os.PRIO_PROCESS, child, NICENESS)
    except OSError:
        pass  # it has ended already, or nobody may


def _forked(command: tuple[str, ...], environment: dict[str, str]) -> int:
    if child := os.fork():
        return child
    try:
        os.setsid()
        os.closerange(0, 3)
        for _ in range(3):
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        os.execve(command[0], command, environment)  # noqa: S606 - our own module
    finally:
        os._exit(1)


def _log(file: str, event: str, error: BaseException) -> None:
    """Add a line about a fault, if there is a place for it."""
    try:
        from orgmem.capture.faults import reason_of

        line = f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())} {event[:40]!a}: {reason_of(error)}\n"
        handle = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(handle).st_size > LONGEST_LOG:
                os.ftruncate(handle, 0)
            os.write(handle, line.encode("utf-8", "replace"))
        finally:
            os.close(handle)
    except Exception:  # noqa: BLE001, S110 - no capture folder, no rights, no space: there is nobody to tell
        pass
