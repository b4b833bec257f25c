"""Where no Prefect server is configured, ours starts one; nothing of the folder takes part; it never stays."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orgmem.settings import Settings
from orgmem.store.staging import Staging
from tests.samples import a_learning

ORGMEM = Path(sys.executable).with_name("orgmem")
START = """
import sys, time
from orgmem.settings import Settings, quiet_libraries
from flows.server import ensure_prefect
quiet_libraries(Settings.load())
print(ensure_prefect().child.pid, flush=True)
time.sleep(60)
"""
BOOBY_TRAPS = (
    "tasks.py",
    "flows.py",
    "schemas.py",
    "orgmem.py",
    "uvicorn.py",
    "json.py",
    "prefect.py",
    "sitecustomize.py",
)


def environment(home: Path) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("ORGMEM_", "PREFECT_", "PYTHON"))
    }
    return {**kept, "ORGMEM_HOME": str(home)}


def runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-P", "-c", START], env=environment(tmp_path), stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout
    child = int(parent.stdout.readline())
    assert runs(child)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    until = time.monotonic() + 30
    while runs(child) and time.monotonic() < until:
        time.sleep(0.2)
    assert not runs(child)


@pytest.fixture
def trapped(tmp_path: Path) -> Path:
    """A folder full of a user's own modules, each of which would leave a mark if it ran."""
    folder = tmp_path / "project"
    folder.mkdir()
    for name in BOOBY_TRAPS:
        (folder / name).write_text(f"open({str(tmp_path / 'mark')!r}, 'a').write({name!r})\n")
    (folder / ".env").write_text("ORGMEM_TENANT=planted\nPREFECT_LOGGING_LEVEL=nonsense\n")
    (folder / "orgmem.toml").write_text("tenant = 'planted'\n")
    (folder / "prefect.toml").write_text("not toml [")
    return folder


def run_in(folder: Path, environment: dict[str, str], *words: str) -> dict[str, Any]:
    """Run a verb there to its end; its JSON."""
    done = subprocess.run(
        [ORGMEM, *words, "--json"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_without_a_server_all_runs_and_neither_the_current_folder_nor_the_users_takes_part(
    tmp_path: Path, trapped: Path
) -> None:
    settings, user = Settings(home=tmp_path / "home"), tmp_path / "user"
    user.mkdir()
    Staging(settings).write(a_learning())
    variables = {**environment(settings.home), "HOME": str(user)}
    tally = run_in(trapped, variables, "curate")
    assert tally["learnings"]["productive"] == 1
    assert run_in(trapped, variables, "search", "how do I run the tests")["results"]
    assert not (tmp_path / "mark").exists()
    assert not (settings.home / "planted").exists()
    assert not list(user.rglob("*")), "no library keeps a cache, an id or telemetry in the user's folder"
