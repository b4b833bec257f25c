"""A person's steps through the queue, how each is undone, and who may not take them."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console

from orgmem.capture.learning import learning_of
from orgmem.capture.render import listed, page
from orgmem.capture.review import ASSISTANTS, UNDO_SECONDS, Review, edited, inside_assistant, refuse_assistants
from orgmem.capture.state import candidates, deliveries
from orgmem.capture.state.candidates import Candidate
from orgmem.errors import InputError, UsageError
from tests.capture.asking import PROJECT, START, Asking, asking, no_assistant
from tests.revisions import TOKEN


@pytest.fixture
def work() -> Iterator[Asking]:
    with asking() as made:
        yield made


def reviewing(work: Asking) -> Review:
    return Review(work.db, lambda: datetime.fromtimestamp(work.now, UTC))


def current(steps: Review) -> Candidate:
    found = steps.current()
    assert found
    return found


def printed(candidate: Candidate, *, width: int = 80, most: int | None = None) -> list[str]:
    console = Console(file=StringIO(), width=width, highlight=False, markup=False)
    console.print(page(candidate, left=1, most=most))
    assert isinstance(console.file, StringIO)
    return console.file.getvalue().splitlines()


def test_edits_come_in_the_order_in_which_they_were_found(work: Asking) -> None:
    first, second = work.edit("", "one\n"), work.edit("one\n", "one\ntwo\n")
    steps = reviewing(work)
    assert current(steps).id == first
    assert steps.decide(current(steps), yes=True)
    assert current(steps).id == second
    assert steps.decide(current(steps), yes=False)
    assert steps.current() is None
    assert steps.figures() == (1, 1)
    assert [each.via for each in candidates.in_order(work.db)] == ["terminal", "terminal"]


def test_an_approval_can_be_undone_before_it_is_due(work: Asking) -> None:
    number = work.edit("", "one\n")
    steps = reviewing(work)
    steps.decide(current(steps), yes=True)
    assert deliveries.due(work.db, work.now + UNDO_SECONDS - 1) == ()
    assert steps.undo() == "undone"
    assert (work.statuses(), work.queued()) == (["pending"], [])
    assert current(steps).id == number
    assert steps.undo() == "nothing to undo"


def test_what_has_left_stays_approved(work: Asking) -> None:
    number = work.edit("", "one\n")
    steps = reviewing(work)
    steps.decide(current(steps), yes=True)
    deliveries.delivered(work.db, number, work.now)
    assert "had left already" in steps.undo()
    assert work.statuses() == ["approved"]


def test_what_is_shown_is_not_asked_about_by_an_assistant(work: Asking) -> None:
    work.edit("", "one\n")
    current(reviewing(work))
    assert work.stop() is None


def test_what_is_skipped_comes_back_with_an_undo(work: Asking) -> None:
    first, second = work.edit("", "one\n"), work.edit("one\n", "one\ntwo\n")
    steps = reviewing(work)
    steps.skip(current(steps))
    assert current(steps).id == second
    steps.undo()
    assert current(steps).id == first
    assert work.statuses() == ["pending", "pending"]


def test_a_decision_made_elsewhere_meanwhile_stands(work: Asking) -> None:
    number = work.edit("", "one\n")
    steps = reviewing(work)
    shown = current(steps)
    candidates.decide(work.db, number, yes=False, via="question", now=work.now)
    assert not steps.decide(shown, yes=True)
    assert work.statuses() == ["denied"]


def test_always_for_a_file_holds_for_it_now_and_in_future(work: Asking) -> None:
    work.edit("", "one\n")
    work.edit("", "other\n", "AGENTS.md")
    work.edit("one\n", "one\ntwo\n")
    steps = reviewing(work)
    assert steps.remember(current(steps), "always", project=False) == 1
    assert work.statuses() == ["approved", "pending", "approved"]
    assert [each.via for each in candidates.in_order(work.db)] == ["terminal", None, "policy"]
    work.edit("one\ntwo\n", "three\n")
    assert work.statuses()[-1] == "approved"


def test_never_for_a_project_holds_for_all_its_files(work: Asking) -> None:
    work.edit("", "one\n")
    work.edit("", "other\n", "AGENTS.md")
    steps = reviewing(work)
    assert steps.remember(current(steps), "never", project=True) == 1
    work.edit("", "new\n", "docs/CLAUDE.md")
    assert work.statuses() == ["denied"] * 3
    assert work.queued() == []


def test_undoing_a_rule_brings_the_former_one_back(work: Asking) -> None:
    work.edit("", "one\n")
    work.edit("", "other\n", "AGENTS.md")
    candidates.set_rule(work.db, PROJECT, "", "always", START)
    steps = reviewing(work)
    steps.remember(current(steps), "never", project=True)
    assert steps.undo() == "undone"
    assert candidates.rules(work.db) == ((PROJECT, "", "always"),)
    assert work.statuses() == ["pending", "pending"]
    steps.remember(current(steps), "never", project=False)
    steps.undo()
    assert candidates.rules(work.db) == ((PROJECT, "", "always"),)


def test_another_wording_takes_the_place_of_the_first(work: Asking) -> None:
    work.edit("# Shop\n", "# Shop\n- ask Ada\n")
    work.edit("", "other\n", "AGENTS.md")
    steps = reviewing(work)
    made = steps.reword(current(steps), "# Shop\n- ask the owner\n")
    assert made
    assert (made.change.before, made.change.after) == ("# Shop\n", "# Shop\n- ask the owner\n")
    assert current(steps).id == made.id
    assert steps.decide(made, yes=True)
    assert work.statuses() == ["denied", "pending", "approved"]
    assert steps.figures() == (1, 0)
    approved = candidates.get(work.db, made.id)
    assert approved
    assert learning_of(approved, approved_at=START).hunks[0].after == "- ask the owner\n"
    work.edit("# Shop\n", "# Shop\n- ask Ada\n")
    assert work.statuses()[-1] == "repeated"


def test_a_new_wording_is_undone_step_by_step(work: Asking) -> None:
    first = work.edit("# Shop\n", "# Shop\n- ask Ada\n")
    steps = reviewing(work)
    steps.reword(current(steps), "# Shop\n- ask the owner\n")
    steps.decide(current(steps), yes=True)
    assert (steps.undo(), work.statuses()) == ("undone", ["denied", "pending"])
    assert (steps.undo(), work.statuses()) == ("undone", ["pending", "withdrawn"])
    assert current(steps).id == first
    assert work.queued() == []


def test_a_secret_that_is_typed_in_is_masked(work: Asking) -> None:
    work.edit("# Shop\n", f"# Shop\n- {TOKEN}\n")
    steps = reviewing(work)
    made = steps.reword(current(steps), f"# Shop\n- [masked:github-pat]\n- and {TOKEN}\n")
    assert made
    assert TOKEN not in made.change.after
    assert (made.change.masked, made.change.rules) == (2, ("github-pat",))


@pytest.mark.parametrize("after", ["# Shop\n- ask Ada\n", "# Shop\n", "# Shop\r\n\n", "# Shop\n- ask Ada  \n\n"])
def test_a_wording_that_says_the_same_or_nothing_changes_nothing(work: Asking, after: str) -> None:
    work.edit("# Shop\n", "# Shop\n- ask Ada\n")
    steps = reviewing(work)
    assert steps.reword(current(steps), after) is None
    assert work.statuses() == ["pending"]


def test_a_wording_that_was_denied_before_stays_denied(work: Asking) -> None:
    denied = work.edit("# Shop\n", "# Shop\n- one\n")
    candidates.decide(work.db, denied, yes=False, via="terminal", now=work.now)
    work.edit("# Shop\n", "# Shop\n- two\n")
    steps = reviewing(work)
    steps.reword(current(steps), "# Shop\n- one\n")
    assert work.statuses() == ["denied", "denied", "repeated"]
    assert steps.current() is None


def test_a_question_about_the_first_wording_does_not_approve_the_second(work: Asking) -> None:
    work.edit("# Shop\n", "# Shop\n- ask Ada\n")
    asked = work.ask()
    steps = reviewing(work)
    steps.reword(current(steps), "# Shop\n- ask the owner\n")
    assert work.answer(asked, "Share with my organization") == ()
    assert work.statuses() == ["denied", "pending"]


def test_an_edit_is_shown_as_it_leaves_in_eighty_columns(work: Asking) -> None:
    before = "# Shop\n\n## Build\n- a\n- use npm\n\n## Ship\n- by hand\n"
    after = f"# Shop\n\n## Build\n- a\n- use pnpm {'規則' * 60}\x1b[2J\n\n## Ship\n- by hand\n- {TOKEN}\n"
    number = work.edit(before, after)
    found = candidates.get(work.db, number)
    assert found
    rows = printed(found)
    assert max(map(cell_len, rows)) <= 80
    text = "\n".join(row.rstrip() for row in rows)
    assert text.startswith("CLAUDE.md in github.com/acme/shop\nfound 2023-11-1")
    assert "in session s1; masked: 1 github-pat; 1 left" in text
    assert "  @ Shop > Build\n" in text
    assert "  - - use npm\n" in text
    assert "  + - [masked:github-pat]" in text
    assert "    - by hand\n" in text
    assert "\x1b" not in text
    leaves = learning_of(found._replace(status="approved", via="terminal"), approved_at=START)
    shown = listed(found).diff.splitlines()
    assert [row[1:] for row in shown if row.startswith("-")] == [
        line for hunk in leaves.hunks for line in hunk.before.splitlines()
    ]
    assert sum(row.startswith(" ") for row in shown) == sum(
        len((hunk.context_before + hunk.context_after).splitlines()) for hunk in leaves.hunks
    )


def test_a_long_edit_is_cut_and_says_so(work: Asking) -> None:
    found = candidates.get(work.db, work.edit("", "".join(f"- rule {n}\n" for n in range(50))))
    assert found
    assert "  not shown: 40 of 50 lines; p prints all" in printed(found, most=10)
    assert "  + - rule 49" in [row.rstrip() for row in printed(found)]


def test_new_and_deleted_files_are_told(work: Asking) -> None:
    new, gone = work.edit("", "one\n"), work.edit("one\n", "")
    for number, fate in ((new, "(new file)"), (gone, "(deleted)")):
        found = candidates.get(work.db, number)
        assert found
        assert printed(found)[0].endswith(fate)


@pytest.mark.parametrize("variable", ASSISTANTS)
def test_each_assistant_is_told_by_its_variables(variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert inside_assistant({variable: "1"}) == ASSISTANTS[variable]
    no_assistant(monkeypatch)
    monkeypatch.setenv(variable, "1")
    with pytest.raises(UsageError, match=ASSISTANTS[variable]) as caught:
        refuse_assistants()
    assert "terminal of your own" in caught.value.hint


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"CLAUDECODE": ""},
        {"CLAUDE_CODE_SSE_PORT": "1", "CLAUDE_CODE_USE_BEDROCK": "1", "CURSOR_TRACE_ID": "1"},
        {"CODEX_HOME": "/home/ada/.codex", "COPILOT_MODEL": "x", "REPL_ID": "1", "TERM_PROGRAM": "vscode"},
        {"WINDSURF_CASCADE_TERMINAL_KIND": "1", "AGENT": "1", "SSH_AGENT_PID": "1"},
    ],
)
def test_a_persons_own_terminal_and_settings_are_no_assistant(settings: dict[str, str]) -> None:
    assert inside_assistant(settings) is None


def test_the_editor_is_the_persons_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", "sed -i s/one/two/")
    assert edited("one\r\n毎\n") == "two\r\n毎\n"
    monkeypatch.delenv("VISUAL")
    monkeypatch.setenv("EDITOR", "true")
    assert edited("one\n") == "one\n"


@pytest.mark.parametrize(
    ("editor", "said"),
    [
        ("false", "ended with 1"),
        ("no-such-editor-here", "No such file"),
        ('sh -c \'printf "\\377" > "$0"\'', "no UTF-8"),
        ("rm", "No such file"),
        ("vi 'unclosed", "No closing quotation"),
    ],
)
def test_an_editor_that_fails_changes_nothing(editor: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VISUAL", editor)
    with pytest.raises(InputError, match=said):
        edited("one\n")


def test_a_database_that_breaks_in_the_middle_leaves_no_half_step(work: Asking) -> None:
    work.edit("", "one\n")
    steps = reviewing(work)
    shown = current(steps)
    work.db.execute("create trigger full before insert on rules begin select raise(abort, 'disk full'); end")
    with pytest.raises(sqlite3.IntegrityError, match="disk full"):
        steps.remember(shown, "always", project=False)
    assert (work.statuses(), work.queued()) == (["pending"], [])
