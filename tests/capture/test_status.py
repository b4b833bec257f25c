"""Status accounts for everything that was ever captured, and says what is wrong and which command helps."""

import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture import hook, outbox, spool
from orgmem.capture.state import candidates, deliveries, sessions
from orgmem.capture.status import Status, status, warning
from orgmem.cli.overview import overview
from tests.capture.client import START, Client, a_change, a_learning
from tests.capture.hub import Hub, Says
from tests.capture.workplace import Workplace, written

DAY = 24 * 3600.0


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as started:
        yield started


def state(client: Client) -> Status:
    return status(client.db, client.settings, client.clock)


def warned(client: Client) -> str | None:
    return warning(client.db, client.now)


def helps(client: Client) -> list[str]:
    return [each.next for each in state(client).problems]


def spooled(client: Client, *, ago: float) -> Path:
    """A wake in the spool."""
    folder = Path(spool.folder(str(client.settings.home)))
    folder.mkdir(parents=True, exist_ok=True)
    wake = folder / f"{len(list(folder.iterdir())):020}{hook.SUFFIX}"
    wake.write_bytes(hook.packed(("Stop", "/", "", ""), int(START * 1e9), b"{}", whole=True))
    os.utime(wake, (client.now - ago,) * 2)
    return wake


def extend(client: Client, number: int) -> None:
    """A pending candidate takes up a further edit, or is edited back."""
    found = candidates.get(client.db, number)
    if found and found.status == candidates.PENDING:
        candidates.extend(client.db, number, a_change(number + 1), empty=number % 3 == 0)


ACTS: dict[str, Callable[[Client, int], object]] = {
    "find": lambda client, number: candidates.add(client.db, a_change(number)),
    "arrive": lambda client, number: candidates.add(client.db, a_change(number), arrived=True),
    "approve": lambda client, number: candidates.decide(client.db, number, yes=True, via="terminal", now=START),
    "deny": lambda client, number: candidates.decide(client.db, number, yes=False, via="terminal", now=START),
    "undo": lambda client, number: candidates.undo(client.db, number),
    "always": lambda client, number: candidates.set_rule(client.db, a_change(1).project, "", "always", number),
    "extend": extend,
    "deliver": lambda client, _: client.deliver(all_due=True),
    "refuse": lambda client, number: deliveries.failed(client.db, number, "refused"),
    "postpone": lambda client, number: deliveries.postponed(client.db, number, "unreachable", START),
    "retry": lambda client, number: deliveries.requeue(client.db, number, START),
}
"""What can happen to the number-th edit or candidate."""


@given(st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.integers(1, 5)), max_size=25))
def test_what_was_captured_is_the_sum_of_what_became_of_it(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    """claude-mem 2533: events in are what is stored, queued and failed."""
    client = Client(tmp_path_factory.mktemp("client"))
    found_so_far = 0
    for act, number in acts:
        ACTS[act](client, number)
        found_so_far += act in {"find", "arrive"}
        found = state(client)
        undecided = found.pending + found.repeated + found.withdrawn + found.arrived
        assert found.captured == found_so_far == undecided + found.approved + found.denied
        assert found.approved == found.queued + found.delivered + found.failed
    client.db.close()


def test_a_home_where_nothing_was_captured_says_how_to_begin(tmp_path: Path) -> None:
    client = Client(tmp_path)
    found = state(client)
    assert (found.captured, found.queued, found.last_success, found.reconciling) == (0, 0, None, False)
    assert helps(client) == ["orgmem init --target claude-code"]
    assert warned(client) is None


def test_what_is_watched_is_listed_by_checkout(tmp_path: Path) -> None:
    work = Workplace(tmp_path)
    shop = work.repository(files={"CLAUDE.md": "# Shop\n", ".claude/rules/db.md": "x\n", "AGENTS.md": "gone\n"})
    work.start(shop)
    (shop / "AGENTS.md").unlink()
    work.edit(shop / "CLAUDE.md", "# Shop\nnew\n")
    work.stop(shop)
    found = status(work.db, work.settings, Client.clock.__get__(Client(tmp_path / "other")))
    assert found.watched_files == 2
    assert [(each.root, each.project, each.files) for each in found.watched] == [
        (str(shop), "github.com/acme/shop", (".claude/rules/db.md", "CLAUDE.md"))
    ]
    assert (found.captured, found.pending) == (2, 2)


def test_learnings_of_a_backfill_are_counted_apart(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    client.approve(1)
    outbox.put(client.settings, [a_learning(2), a_learning(3)], client.clock)
    hub.faults += [Says(201), Says(422)]
    client.deliver()
    found = state(client)
    assert (found.approved, found.queued, found.delivered, found.failed) == (1, 0, 1, 0)
    assert found.backfill.model_dump() == {"queued": 0, "delivered": 1, "failed": 1}


def test_a_refused_learning_is_said_with_its_reason_and_the_way_back(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    (refused,) = client.approve(1)
    hub.faults.append(Says(422, "schema 1 is not known"))
    client.deliver()
    found = state(client)
    assert [(each.learning_id, "schema 1 is not known" in each.reason) for each in found.failures] == [
        (refused, True)
    ]
    assert "orgmem capture sync --retry-failed" in helps(client)
    assert warned(client) == "orgmem: 1 learning refused by the other end; run: orgmem status"


def test_an_unreachable_server_is_said_at_once_and_warned_of_after_a_while(tmp_path: Path, hub: Hub) -> None:
    client = Client(tmp_path, hub)
    client.approve(1, 2)
    hub.always = Says(503)
    client.deliver()
    found = state(client)
    assert (found.queued, found.last_success) == (2, None)
    assert "503" in (found.last_error or "")
    assert found.next_attempt
    assert "orgmem capture sync" in helps(client)
    assert warned(client) is None
    for _ in range(4):
        client.deliver(after=200)
    assert warned(client) == "orgmem: 2 learnings can't be delivered; run: orgmem status"
    hub.always = None
    client.deliver(after=3600)
    assert (warned(client), state(client).last_error) == (None, None)
    assert state(client).last_success == client.clock()


def test_what_was_approved_a_day_ago_and_is_still_here_is_warned_of(tmp_path: Path) -> None:
    client = Client(tmp_path)
    client.approve(1)
    client.now += DAY
    assert warned(client) is None
    client.now += 1
    assert warned(client) == "orgmem: 1 learning can't be delivered; run: orgmem status"


def test_wakes_that_nobody_works_off_are_warned_of(tmp_path: Path) -> None:
    """claude-mem 1469: what waits while nothing runs is not lost, and not silent."""
    client = Client(tmp_path)
    spooled(client, ago=60)
    assert warned(client) is None
    assert helps(client) == []
    spooled(client, ago=3600)
    assert warned(client) == "orgmem: 2 events not looked at yet; run: orgmem capture sync"
    found = state(client)
    assert (found.wakes, helps(client)) == (2, ["orgmem capture sync"])
    assert found.oldest_wake
    assert found.oldest_wake.timestamp() == client.now - 3600


def test_a_fault_of_capture_is_warned_of_without_its_text(tmp_path: Path) -> None:
    client = Client(tmp_path)
    sessions.notify(client.db, "skipped", "/shop/big.md", "too large", START)
    assert warned(client) is None
    sessions.notify(client.db, "failed", "/shop", "private words", START)
    assert warned(client) == "orgmem: capture has 1 fault; run: orgmem status"
    assert "orgmem capture doctor" in helps(client)
    client.now += 8 * DAY
    assert (warned(client), "orgmem capture doctor" in helps(client)) == (None, False)
    assert [(each.kind, each.subject) for each in state(client).notices] == [
        ("failed", "/shop"),
        ("skipped", "/shop/big.md"),
    ]


def test_a_running_reconcile_and_a_failed_hook_are_seen(tmp_path: Path) -> None:
    client = Client(tmp_path)
    folder = client.settings.capture_folder
    (folder / "hook-errors.log").write_text("older\nStop: OSError 28\n")
    handle = os.open(folder / "reconcile.lock", os.O_CREAT | os.O_RDWR)
    assert not state(client).reconciling
    fcntl.flock(handle, fcntl.LOCK_EX)
    found = state(client)
    os.close(handle)
    assert (found.reconciling, found.hook_error) == (True, "Stop: OSError 28")
    assert not state(client).reconciling


def test_files_in_the_spool_that_are_no_wakes_are_said(tmp_path: Path) -> None:
    client = Client(tmp_path)
    wake = spooled(client, ago=0)
    wake.write_bytes(b"junk")
    assert spool.wakes(str(wake.parent)) == ()
    assert state(client).broken_wakes == 1
    assert "orgmem capture doctor" in helps(client)


def test_capture_that_is_off_is_said(tmp_path: Path) -> None:
    assert helps(Client(tmp_path, capture=False))[0].startswith("unset ORGMEM_CAPTURE")


@pytest.mark.parametrize(
    ("endpoint", "shown"),
    [
        ("https://ada:pw1@hub.example:8443/team?key=pw1#pw1", "https://hub.example:8443/team"),
        ("https://ada@pw1@hub.example", "https://hub.example"),
        ("/mnt/staging", "/mnt/staging"),
    ],
)
def test_where_learnings_go_is_shown_without_credentials(tmp_path: Path, endpoint: str, shown: str) -> None:
    assert state(Client(tmp_path, endpoint=endpoint)).endpoint == shown


def test_the_overview_fits_a_terminal_of_eighty_columns_and_steers_none(tmp_path: Path) -> None:
    work = Workplace(tmp_path, endpoint=f"/mnt/{'x' * 100}")
    shop = work.repository(files={f"docs/{number}/CLAUDE.md": "# A\n" for number in range(40)})
    work.start(shop)
    written(shop / "docs/0/CLAUDE.md", "# A\nnew\n")
    work.stop(shop)
    candidates.set_rule(work.db, "github.com/acme/shop", "docs/1/CLAUDE.md", "never", START)
    for number in range(20):
        sessions.notify(work.db, "skipped", f"/shop/\x1b[31m{number}.md", "not\nUTF-8", START)
    client = Client(tmp_path / "other")
    lines = list(overview(status(work.db, work.settings, client.clock)))
    assert max(map(len, lines)) <= 80
    assert "\x1b" not in "".join(lines)
    assert any("more: orgmem status --json" in line for line in lines)
    assert "           next: orgmem review" in lines
