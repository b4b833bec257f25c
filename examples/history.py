"""The history of a repository's memory files as rows for `orgmem import`, oldest first.

    python3 examples/history.py PATH/TO/REPOSITORY owner/name > revisions.jsonl

Needs git and nothing of orgmem. Merges are passed over; a renamed file counts as a new one.
"""

import json
import subprocess
import sys

FILES = ("*CLAUDE.md", "*AGENTS.md", "*GEMINI.md", ".cursor/rules", ".claude/rules", ".github/*instructions*.md")


def git(repository: str, *words: str) -> str:
    """What git says; undecodable bytes are replaced."""
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, check=False)  # noqa: S603, S607
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""


def main(repository: str, name: str) -> None:
    """Print one row for each commit and memory file that it changed."""
    log = git(repository, "log", "--reverse", "--no-merges", "--format=%x00%H %cI", "--name-only", "--", *FILES)
    for entry in filter(None, log.split("\0")):
        head, *paths = [line for line in entry.splitlines() if line]
        commit, date = head.split(" ")
        for path in paths:
            texts = {side: git(repository, "show", f"{at}:{path}") for side, at in _sides(commit)}
            row = {"id": f"{name}@{commit}:{path}", "repo": name, "path": path, "date": date, "commit": commit}
            print(json.dumps({**row, **texts}))


def _sides(commit: str) -> tuple[tuple[str, str], ...]:
    return ("before", f"{commit}~1"), ("after", commit)


if __name__ == "__main__":
    if len(sys.argv) != 3:  # noqa: PLR2004 - two words
        sys.exit("usage: history.py REPOSITORY OWNER/NAME > revisions.jsonl")
    main(*sys.argv[1:])
