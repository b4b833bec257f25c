"""The spool holds whole wakes only, each once, whatever happens to the hooks that write them."""

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture import hook, spool
from orgmem.capture.hook import packed
from orgmem.capture.spool import Wake, unpacked, wakes
from orgmem.capture.state.database import connect
from tests.capture.running_hooks import Hooks

NS = 10**9
FIELDS = st.tuples(*[st.binary().map(lambda data: os.fsdecode(data.replace(b"\0", b"")))] * 4)
DIES = """
import os, sys
left = int(os.environ.get("STEPS", "1000000"))
def step(event, arguments):
    global left
    left -= 1
    if left == -1:
        os.kill(os.getpid(), 9)
sys.addaudithook(step)
"""
"""Kills a Python, as its sitecustomize, after so many imports, files opened, renamed, locked and so on."""


def spooled(folder: Path, at: int, payload: bytes = b"{}") -> Path:
    """A wake's file of this moment in seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{at * NS:020}-1{hook.SUFFIX}"
    file.write_bytes(packed(("Stop", "/p", "", ""), at * NS, payload, whole=True))
    return file


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    """Hooks that start no reconcile."""
    found = Hooks(tmp_path)
    with found.busy():
        yield found


@given(said=FIELDS, at=st.integers(0, 2**63), payload=st.binary(), whole=st.booleans())
def test_a_wake_comes_out_as_it_went_in(
    said: tuple[str, str, str, str], at: int, payload: bytes, *, whole: bool
) -> None:
    content = packed(said, at, payload, whole=whole)
    assert unpacked("a name", content) == Wake("a name", *said, at / 1e9, payload, whole)


@given(said=FIELDS, payload=st.binary(), share=st.floats(0, 1, exclude_max=True))
def test_a_file_that_the_power_cut_short_is_no_wake(
    said: tuple[str, str, str, str], payload: bytes, share: float
) -> None:
    content = packed(said, NS, payload, whole=True)
    assert unpacked("name", content[: int(len(content) * share)]) is None


@given(st.binary() | st.lists(st.binary(max_size=30)).map(lambda each: b"\0".join((hook.FORMAT, *each))))
def test_no_file_is_too_strange_to_be_looked_at(content: bytes) -> None:
    unpacked("name", content)


@pytest.mark.parametrize("at", [b"1" * 5000, "٣".encode(), b"-1", b"1.5", b""])
def test_a_moment_is_a_number(at: bytes) -> None:
    found = unpacked("name", b"\0".join((hook.FORMAT, b"", b"", b"", b"", at, b"1", b"0", b"")))
    assert found is None or found.at == 3 / 1e9


def test_wakes_come_oldest_first_and_go_when_they_are_dropped(tmp_path: Path) -> None:
    assert wakes(str(tmp_path / "none")) == ()
    for at in (3, 1, 2):
        spooled(tmp_path, at)
    first, *rest = wakes(str(tmp_path))
    assert [first.at, *(wake.at for wake in rest)] == [1.0, 2.0, 3.0]
    spool.drop(str(tmp_path), first)
    spool.drop(str(tmp_path), first)
    assert wakes(str(tmp_path)) == tuple(rest)


def test_what_is_no_wake_is_put_aside_and_counted(tmp_path: Path) -> None:
    good = spooled(tmp_path, 1)
    assert spool.broken(str(tmp_path)) == 0
    (tmp_path / f"cut{hook.SUFFIX}").write_bytes(good.read_bytes()[:-1])
    (tmp_path / f"later{hook.SUFFIX}").write_bytes(good.read_bytes().replace(b"wake 1", b"wake 2"))
    (tmp_path / f"long{hook.SUFFIX}").write_bytes(good.read_bytes() + bytes(hook.MOST_KEPT + 2**21))
    (tmp_path / "foreign.txt").write_bytes(good.read_bytes())
    (tmp_path / f"folder{hook.SUFFIX}").mkdir()
    for _ in range(2):
        assert [wake.file for wake in wakes(str(tmp_path))] == [good.name]
        assert spool.broken(str(tmp_path)) == 5
    assert {path.name for path in tmp_path.iterdir()} == {good.name, spool.BROKEN}


def test_what_a_killed_hook_left_half_written_goes_after_a_while(tmp_path: Path) -> None:
    young, old = (tmp_path / name for name in (".1-1", ".2-2"))
    for file in (young, old):
        file.write_bytes(hook.FORMAT)
    os.utime(old, (time.time() - 7200,) * 2)
    assert wakes(str(tmp_path)) == ()
    assert list(tmp_path.iterdir()) == [young]


def test_a_spool_that_is_larger_than_memory_comes_in_parts(tmp_path: Path) -> None:
    files = [spooled(tmp_path, at, bytes(hook.MOST_KEPT)).name for at in range(11)]
    seen: list[str] = []
    while found := wakes(str(tmp_path)):
        assert sum(len(wake.payload) for wake in found) <= spool.MOST_AT_ONCE + hook.MOST_KEPT
        for wake in found:
            seen.append(wake.file)
            spool.drop(str(tmp_path), wake)
    assert seen == files


def test_twenty_hooks_at_once_leave_twenty_wakes(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)  # of which several start a reconcile, or none
    payloads = [f"payload {number}".encode() * 1000 for number in range(20)]
    running = [
        subprocess.Popen(hooks.command("PostToolUse"), env=hooks.environment, stdin=subprocess.PIPE)
        for _ in payloads
    ]
    for process, payload in zip(running, payloads, strict=True):
        assert process.stdin
        process.stdin.write(payload)
        process.stdin.close()
    assert [process.wait(60) for process in running] == [0] * 20
    assert sorted(wake.payload for wake in hooks.wakes()) == sorted(payloads)
    assert hooks.told()["again"] == 0
    assert not hooks.errors()


def killed(hooks: Hooks, event: str, payload: bytes, steps: int) -> bool:
    """Run a hook that is killed after so many steps; whether it was."""
    environment = {**hooks.environment, "STEPS": str(steps)}
    done = hooks.run(event, payload=payload, env=environment)
    assert done.returncode in (0, -signal.SIGKILL)
    return done.returncode != 0


@pytest.mark.parametrize(("event", "pace"), [("PostToolUse", 1), ("Stop", 7)])
def test_a_hook_that_is_killed_at_any_step_leaves_a_whole_wake_or_none(
    event: str, pace: int, hooks: Hooks
) -> None:
    (hooks.stand_ins / "sitecustomize.py").write_text(DIES)
    hooks.stand_in("question", "def stop_output(db, event, now): return None")
    connect(hooks.capture).close()
    payload, steps, counts = bytes(range(256)) * 100, 0, []
    while killed(hooks, event, payload, steps):
        assert all(wake.payload == payload for wake in hooks.wakes())
        counts.append(len(hooks.wakes()))
        assert spool.broken(str(hooks.spool)) == 0
        shutil.rmtree(hooks.spool, ignore_errors=True)
        steps += pace
    assert len(hooks.wakes()) == 1
    assert counts == sorted(counts)  # from some step on it is there, whatever comes after that
    assert set(counts) == {0, 1}


def test_hooks_that_are_killed_at_random_moments_leave_whole_wakes(hooks: Hooks) -> None:
    moments = random.Random(7)
    payload = b"0123456789abcdef" * 2**16
    for _ in range(40):
        process = subprocess.Popen(hooks.command("Stop"), env=hooks.environment, stdin=subprocess.PIPE)
        try:
            process.communicate(payload, timeout=moments.uniform(0.005, 0.04))
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
    assert all(wake.payload in payload for wake in hooks.wakes())
    assert all(wake.payload == payload for wake in hooks.wakes() if wake.whole)
    assert spool.broken(str(hooks.spool)) == 0
