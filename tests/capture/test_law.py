"""The law over any row of events: candidates in order lead from the first text to the last, each is there once."""

import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.capture.workplace import Workplace, git, written
from tests.revisions import TOKEN

FILES = ("CLAUDE.md", "docs/CLAUDE.md", ".claude/rules/api.md")
TEXTS = ("", "# A\n", "# A\r\n", "# A\nb\n", f"# A\n{TOKEN}\n", "# A\nb\nc\n", "漢字\n", "\ufeff# A\nb")


class Step(NamedTuple):
    """Something that happens to a file of one of two checkouts, and whether a hook tells of it."""

    way: str
    place: int
    file: str
    text: str
    session: str
    told: int
    """How often; 0: the hook was killed."""
    reconciled: bool


steps = st.builds(
    Step,
    st.sampled_from(("tool", "command", "remove", "commit", "restore", "merge", "question")),
    st.integers(0, 1),
    st.sampled_from(FILES),
    st.sampled_from(TEXTS),
    st.sampled_from(("s1", "s2")),
    st.integers(0, 2),
    st.booleans(),
)


def text_of(file: str, text: str) -> str:
    """A text that no other file has, or a removal and a new file would be a renamed one."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    return f"{mark}# {file}\n{text.removeprefix(mark)}" if text else ""


FIRST = {name: text_of(name, "# A\n") for name in FILES[:2]}


def take(work: Workplace, roots: list[Path], step: Step) -> None:
    root, other = roots[step.place], roots[1 - step.place]
    path = root / step.file
    match step.way:
        case "tool":
            before = path.read_bytes().decode() if path.exists() else None
            written(path, after := text_of(step.file, step.text), ago=1)
            for _ in range(step.told):
                work.tell_edit(path, before, after, step.session, root)
            return
        case "command":
            written(path, text_of(step.file, step.text), ago=1)
        case "remove":
            path.unlink(missing_ok=True)
        case "commit":
            git(root, "add", "--all")
            git(root, "commit", "-q", "--allow-empty", "-m", "work", ago=0)
        case "restore":
            git(root, "checkout", "-q", "--", ".")
        case "merge":
            git(root, "checkout", "-q", git(other, "rev-parse", "HEAD").strip(), "--", ".")
        case "question":
            work.db.execute("update candidates set shown_at=? where status='pending'", (time.time(),))
        case _:
            pass
    for _ in range(step.told):
        work.shell(root, step.session)


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=12), st.booleans())
def test_candidates_in_order_lead_from_the_first_text_to_the_last(row: list[Step], start: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Workplace(Path(os.path.realpath(folder)))
        shop = work.repository(files={**FIRST, "README.md": "so that git always has a file\n"})
        roots = [shop, work.worktree(shop, "feature")]
        if start:
            for root in roots:
                work.start(root)
        else:
            work.sync(here=roots[0])
            work.sync(here=roots[1])
        for step in row:
            take(work, roots, step)
            if step.reconciled:
                work.reconcile()
        work.reconcile()
        work.sync()
        for root in roots:
            for name in FILES:
                work.check_chain(root / name, FIRST.get(name, ""))
        work.db.close()
