"""A history becomes learnings that are handed over all at once, and once."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from orgmem.capture.backfill import Plan, hand_over, plan
from orgmem.capture.backfill_git import Git
from orgmem.capture.changes import Place, Source, change_of
from orgmem.capture.deliver import deliver
from orgmem.capture.state import candidates, database
from orgmem.errors import StoreError
from orgmem.settings import Settings
from orgmem.store.staging import Staging, parse_learning
from orgmem.text.diff import apply_patch
from schemas.learning import ApprovedVia, Learning, Origin
from tests.capture.commits import DAY, FIRST, Work
from tests.capture.workplace import Workplace, git
from tests.revisions import TOKEN

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
PROJECT = "github.com/acme/payments"


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return Work(tmp_path / "work", "git@github.com:Acme/payments.git")


def planned(work: Work, settings: Settings, **options: object) -> Plan:
    return plan(work.folder, settings, lambda: NOW, **options)  # type: ignore[arg-type]


def over(found: Plan, settings: Settings) -> int:
    return hand_over(found, settings, via=ApprovedVia.SCRIPT, at=NOW)


def staged(settings: Settings) -> list[Learning]:
    """What lies in staging, valid, by the time of the edit."""
    files = (settings.staging / name for name in Staging(settings).names())
    rows = [parse_learning(file.read_bytes()) for file in files]
    assert all(isinstance(row, Learning) for row in rows), rows
    return sorted((row for row in rows if isinstance(row, Learning)), key=lambda row: row.observed_at)


def test_a_history_becomes_learnings_with_commits_and_dates(work: Work, settings: Settings) -> None:
    one = work.commit({"CLAUDE.md": "# Tests\n", "main.py": "x"})
    two = work.commit({"CLAUDE.md": "# Tests\nRun make test.\n"}, author=FIRST + DAY + 60)
    found = planned(work, settings)
    assert over(found, settings) == 2
    first, second = staged(settings)
    assert (first.commit, second.commit) == (one, two)
    assert second.observed_at == datetime.fromtimestamp(FIRST + DAY + 60, UTC)
    assert (second.project, second.path) == (PROJECT, "CLAUDE.md")
    assert (second.origin, second.approved_via, second.approved_at) == (Origin.BACKFILL, ApprovedVia.SCRIPT, NOW)
    assert apply_patch(second.patch, "# Tests\n") == "# Tests\nRun make test.\n"


def test_a_plan_says_what_would_leave_and_writes_nothing(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    work.commit({"CLAUDE.md": f"a\nkey {TOKEN}\n", ".cursor/rules/x.mdc": "rule\n", "docs/CLAUDE.md": "d\n"})
    found = planned(work, settings)
    assert (found.commits, found.learnings, found.new, len(found.edits)) == (2, 4, 4, 4)
    assert next((each.name, each.count) for each in found.files) == ("CLAUDE.md", 2)
    assert [(each.name, each.count) for each in found.masked] == [("github-pat", 1)]
    assert (found.first, found.last) == tuple(datetime.fromtimestamp(FIRST + n * DAY, UTC) for n in (1, 2))
    assert (found.project, found.destination, found.left_out) == (PROJECT, str(settings.staging), ())
    assert found.bytes > 1000
    assert TOKEN not in found.model_dump_json()
    assert not settings.home.exists()


def test_a_second_run_adds_nothing_and_a_further_commit_adds_itself(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    over(planned(work, settings), settings)
    again = planned(work, settings)
    assert (again.new, over(again, settings)) == (0, 0)
    work.commit({"CLAUDE.md": "a\nb\n"})
    more = planned(work, settings)
    assert (len(more.edits), more.new, over(more, settings)) == (2, 1, 1)


def test_what_the_lake_has_is_not_handed_over_again(work: Work, settings: Settings) -> None:
    from orgmem.store.lake import Lake
    from orgmem.store.staging import sightings_of

    work.commit({"CLAUDE.md": "a\n"})
    found = planned(work, settings)
    Lake(settings).append(
        learnings=found.edits, sightings=[each for row in found.edits for each in sightings_of(row)]
    )
    again = planned(work, settings)
    assert (again.new, over(again, settings)) == (0, 0)


def test_the_same_edit_noticed_by_a_hook_is_the_same_learning(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": b"# T\r\nold\r\n"})
    work.commit({"CLAUDE.md": f"# T\nnew {TOKEN}\n"})
    place = Place(PROJECT, "CLAUDE.md", str(work.folder), str(work.folder / "CLAUDE.md"))
    noticed = change_of(place, b"# T\nold\n", f"# T\nnew {TOKEN}\n".encode(), Source("hook", "s1", 1.0))
    assert noticed
    assert planned(work, settings).edits[-1].id == noticed.learning_id


def test_what_hooks_found_is_found_again_in_the_commits(tmp_path: Path) -> None:
    """A whole session: an edit, a new file, a deletion; each then committed."""
    place = Workplace(tmp_path)
    shop = place.repository(files={"CLAUDE.md": "# Shop\n", "GEMINI.md": "g\n"})
    place.start(shop)
    place.edit(shop / "CLAUDE.md", f"# Shop\nkey {TOKEN}\n")
    place.stop(shop)
    git(shop, "commit", "-q", "-a", "-m", "an edit")
    place.edit(shop / "web" / "AGENTS.md", "new\n", cwd=shop)
    (shop / "GEMINI.md").unlink()
    place.shell(shop)
    place.stop(shop)
    git(shop, "add", "--all")
    git(shop, "commit", "-q", "-m", "a file and a deletion")
    noticed = {each.change.learning_id for each in place.all()}
    told = {each.id for each in plan(shop, place.settings, lambda: datetime.now(UTC)).edits}
    assert len(noticed) == 3
    assert noticed < told
    assert len(told) == 5  # and the two files of the first commit


def test_an_edit_that_is_made_again_is_one_learning_seen_twice(work: Work, settings: Settings) -> None:
    for text in ("a\n", "b\n", "a\n", "b\n"):
        work.commit({"CLAUDE.md": text})
    found = planned(work, settings)
    assert (len(found.edits), found.learnings) == (4, 3)
    assert over(found, settings) == 4


def test_what_no_reader_sees_is_no_edit(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\nb\n"})
    work.commit({"CLAUDE.md": b"\xef\xbb\xbfa\r\nb\r\n\r\n"})
    work.commit({"CLAUDE.md": None, "AGENTS.md": b"a\nb"})
    found = planned(work, settings)
    assert (len(found.edits), found.left_out) == (1, ())


def test_a_deletion_is_an_edit_to_nothing(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    work.commit({"CLAUDE.md": None})
    last = planned(work, settings).edits[-1]
    assert apply_patch(last.patch, "a\n") == ""


def test_edits_before_a_day_and_all_but_the_last_can_be_left_out(work: Work, settings: Settings) -> None:
    commits = [work.commit({"CLAUDE.md": f"{number}\n"}) for number in range(5)]
    late = planned(work, settings, since=datetime.fromtimestamp(FIRST + 3 * DAY, UTC))
    assert [each.commit for each in late.edits] == commits[2:]
    assert [each.commit for each in planned(work, settings, limit=2).edits] == commits[3:]


def test_what_can_not_leave_is_counted_by_reason(work: Work, settings: Settings) -> None:
    small = settings.model_copy(update={"watch_max_bytes": 100})
    work.commit({"CLAUDE.md": b"\xff\xfe\xfa", "AGENTS.md": "x" * 200, "GEMINI.md": "fine\n"})
    work.commit({".claude/agent-memory/r/MEMORY.md": "---\ntype: user\n---\nlikes tea\n"})
    work.commit({"docs/\tx/CLAUDE.md": "a\n"})
    work.commit({".cursorrules": "later\n"}, day=3650, author=FIRST + 3650 * DAY)
    found = planned(work, small)
    assert [each.path for each in found.edits] == ["GEMINI.md"]
    assert {each.name: each.count for each in found.left_out} == {
        "neither UTF-8 nor UTF-16": 1,
        "larger than 100 bytes": 1,
        "personal memory: its frontmatter says type: user": 1,
        "its path can't be shown: not UTF-8, or with control characters": 1,
        "dated in the future": 1,
    }


def test_a_learning_that_staging_would_refuse_is_left_out(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "line of text\n" * 200})
    found = planned(work, settings.model_copy(update={"max_row_bytes": 2000}))
    assert ([each.name for each in found.left_out], found.edits) == (["larger than 2,000 bytes"], ())


def test_an_authors_date_after_the_commit_is_not_believed(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n"}, author=FIRST + 10 * 365 * DAY)
    assert planned(work, settings).edits[0].observed_at == datetime.fromtimestamp(FIRST + DAY, UTC)


def test_a_rebased_edit_keeps_its_date(work: Work, settings: Settings) -> None:
    work.commit({"main.py": "a"})
    work.git("checkout", "-q", "-b", "side")
    work.commit({"CLAUDE.md": "a\n"})
    work.git("checkout", "-q", "main")
    work.commit({"main.py": "b"})
    work.git("checkout", "-q", "side")
    work.git("rebase", "-q", "main")
    assert planned(work, settings).edits[0].observed_at == datetime.fromtimestamp(FIRST + 2 * DAY, UTC)


def test_what_the_user_decided_before_holds(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n", "AGENTS.md": "b\n", "GEMINI.md": "c\n"})
    claude = next(each for each in planned(work, settings).edits if each.path == "CLAUDE.md")
    settings.home.mkdir()
    db = database.connect(settings.capture_folder)
    place = Place(PROJECT, "CLAUDE.md", str(work.folder), str(work.folder / "CLAUDE.md"))
    change = change_of(place, None, b"a\n", Source("hook", "s1", 1.0))
    assert change
    assert change.learning_id == claude.id
    candidates.decide(db, candidates.add(db, change), yes=False, via="terminal", now=2.0)
    candidates.set_rule(db, PROJECT, "", "never", 3.0)
    candidates.set_rule(db, PROJECT, "GEMINI.md", "always", 3.0)
    db.close()
    found = planned(work, settings)
    assert [each.path for each in found.edits] == ["GEMINI.md"]
    assert {each.name: each.count for each in found.left_out} == {
        "denied before": 1, "never to be shared, by your rule": 1,
    }  # fmt: skip


def test_a_damaged_database_stops_the_backfill_rather_than_the_rules(work: Work, settings: Settings) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    settings.capture_folder.mkdir(parents=True)
    (settings.capture_folder / "capture.db").write_bytes(b"no database" * 1000)
    with pytest.raises(StoreError, match=r"capture\.db"):
        planned(work, settings)


def test_all_or_nothing_is_handed_over(work: Work, settings: Settings) -> None:
    for number in range(5):
        work.commit({"CLAUDE.md": f"{number}\n"})
    found = planned(work, settings)
    settings.staging.parent.mkdir(parents=True)
    settings.staging.write_text("in the way")
    with pytest.raises(OSError, match="exists"):
        over(found, settings)
    settings.staging.unlink()
    assert over(found, settings) == 5


@pytest.mark.parametrize("endpoint", ["{}/shared", "https://user:word@hub.example.org"])
def test_for_another_place_the_edits_wait_in_the_outbox(
    work: Work, settings: Settings, tmp_path: Path, endpoint: str
) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    far = settings.model_copy(update={"endpoint": endpoint.format(tmp_path)})
    found = planned(work, far)
    assert found.destination in {f"{tmp_path}/shared", "https://hub.example.org"}
    assert over(found, far) == 1
    (file,) = (settings.capture_folder / "outbox").iterdir()
    assert isinstance(parse_learning(file.read_bytes()), Learning)
    assert not settings.staging.exists()
    again = planned(work, far)
    assert (again.new, over(again, far)) == (0, 0)


def test_what_was_delivered_is_not_handed_over_again(work: Work, settings: Settings, tmp_path: Path) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    far = settings.model_copy(update={"endpoint": str(tmp_path / "shared")})
    over(planned(work, far), far)
    (tmp_path / "shared").mkdir()
    with closing(database.connect(settings.capture_folder)) as db:
        assert deliver(db, far, lambda: datetime.now(UTC)).delivered == 1
    assert [row.suffix for row in (tmp_path / "shared").iterdir()] == [".json"]
    again = planned(work, far)
    assert (again.new, over(again, far)) == (0, 0)


def test_a_long_history_is_told_commit_by_commit(work: Work, settings: Settings) -> None:
    for number in range(4):
        work.commit({"CLAUDE.md": f"{number}\n"})
    told: list[int] = []
    planned(work, settings, note=told.append)
    assert told == [1, 2, 3, 4]


def test_every_row_of_a_history_applies_to_what_was_before(work: Work, settings: Settings) -> None:
    versions = [
        "# A\n\n- 項目\n",
        "# A\n\n- 項目\n- \u200bx",
        "",
        "no final line end",
        "a\0b and more\n",
        f"{TOKEN}\n# A\n",
    ]
    for version in versions:
        work.commit({"CLAUDE.md": version})
    text = ""
    for each in planned(work, settings).edits:
        text = apply_patch(each.patch, text)
    assert text == "[masked:github-pat]\n# A\n"


def test_a_git_process_ends_with_its_block(work: Work) -> None:
    work.commit({"CLAUDE.md": "a\n"})
    with Git(str(work.folder / ".git"), "rev-parse", "HEAD") as git:
        assert git.output.read().strip() == work.git("rev-parse", "HEAD").encode()
