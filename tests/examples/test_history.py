"""A repository's own history becomes rows that import takes."""

import json
import subprocess
import sys
from pathlib import Path

from orgmem.identity import now
from orgmem.settings import Settings
from tasks.intake import import_file


def commit(repository: Path, text: str) -> None:
    (repository / "CLAUDE.md").write_text(text, encoding="utf-8")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["add", "."], [*who, "commit", "-qm", "rules"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True)


def test_every_commit_of_a_memory_file_is_a_row(tmp_path: Path, checkout: Path, settings: Settings) -> None:
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    first, second = "# Rules\n\nRun `make seed` first.\n", "# Rules\n\nRun `make seed` and `make broker` first.\n"
    commit(repository, first)
    commit(repository, second)
    done = subprocess.run(
        [sys.executable, str(checkout / "examples" / "history.py"), str(repository), "acme/a"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(row["before"], row["after"]) for row in rows] == [("", first), (first, second)]
    (tmp_path / "rows.jsonl").write_text(done.stdout, encoding="utf-8")
    taken = import_file(tmp_path / "rows.jsonl", settings, now)
    assert (taken.read, taken.new, taken.rejected) == (2, 2, 0)
