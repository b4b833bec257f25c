"""One edit's whole way: from the hooks of a real settings file over the user's yes to an answer of the search."""

import fcntl
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from orgmem.capture.hook import LOCK
from orgmem.capture.question import YES
from orgmem.capture.review import ASSISTANTS
from orgmem.capture.warning import waiting
from orgmem.settings import Settings
from orgmem.store.staging import Staging
from tests.capture.asking import answered
from tests.capture.client import staged_in
from tests.capture.workplace import git, written

ORGMEM = Path(sys.executable).with_name("orgmem")
SETTINGS = '{\r\n\t// ours\r\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "./x"}]}]},\r\n}\r\n'
"""A settings file with a hook of the project's own, comments and line ends to keep."""
BEFORE = "# Shop\n\n## Tests\n\n- Run `make lint` first.\n"
CANARY = "- Run `make canary-db` before `make integration`, otherwise the tests hang at collection.\n"


class Person:
    """Somebody who installs orgmem into a repository, and whose assistant runs what the settings then say."""

    def __init__(self, folder: Path, prefect_server: str) -> None:
        """A repository with a memory file, and settings of a project's own."""
        self.settings = Settings(home=folder / "om")
        self.shop = written(folder / "shop" / "CLAUDE.md", BEFORE, ago=100).parent
        self.file = written(self.shop / ".claude" / "settings.json", SETTINGS)
        for words in (("init", "-q"), ("add", "--all"), ("commit", "-q", "-m", "first")):
            git(self.shop, *words)
        git(self.shop, "remote", "add", "origin", "git@github.com:acme/shop.git")
        ours = {"HOME": str(folder), "ORGMEM_HOME": str(self.settings.home), "PREFECT_API_URL": prefect_server}
        self.environment = {name: value for name, value in os.environ.items() if name not in ASSISTANTS} | ours

    def orgmem(self, *words: str) -> str:
        """Run a verb in the repository; its standard output."""
        options: Any = {"cwd": self.shop, "env": self.environment, "capture_output": True, "text": True}
        done = subprocess.run([ORGMEM, *words], timeout=240, check=False, **options)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def tell(self, event: str, **payload: object) -> str:
        """Run the command that the settings name for an event, as Claude Code does; what it prints."""
        given = {"session_id": "s1", "cwd": str(self.shop), "hook_event_name": event, **payload}
        ours = {"ORGMEM_HOME", "PREFECT_API_URL"}  # an assistant knows neither: what it runs is in the settings
        environment = {name: value for name, value in self.environment.items() if name not in ours}
        done = subprocess.run(
            self.commands()[event],
            input=json.dumps(given).encode(),
            cwd=self.shop,
            env={**environment, "CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(self.shop)},
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert done.stderr == b""
        self.rest()
        return done.stdout.decode()

    def commands(self) -> dict[str, list[str]]:
        """Our commands of the settings file, by event."""
        text = self.file.read_text("utf-8").replace("// ours", "").replace("},\n}", "}\n}")
        found = json.loads(text)["hooks"]
        hooks = [(event, hook) for event, entries in found.items() for entry in entries for hook in entry["hooks"]]
        return {event: [hook["command"], *hook["args"]] for event, hook in hooks if hook["command"] != "./x"}

    def rest(self) -> None:
        """Wait until the detached process has looked at what was told, and delivered what was due."""
        until = time.monotonic() + 60
        while waiting(str(self.settings.home)).number and time.monotonic() < until:
            time.sleep(0.05)
        for name in (LOCK, "deliver.lock"):
            with (self.settings.capture_folder / name).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)

    def edit(self) -> None:
        """The assistant adds the canary by its Edit tool."""
        last = BEFORE.splitlines(keepends=True)[-1]
        path = str(written(self.shop / "CLAUDE.md", BEFORE + CANARY))
        given = {"file_path": path, "old_string": last, "new_string": last + CANARY, "replace_all": False}
        said = {"filePath": path, "oldString": last, "newString": last + CANARY, "originalFile": BEFORE}
        response = {**said, "structuredPatch": [], "userModified": False, "replaceAll": False}
        assert not self.tell("PostToolUse", tool_name="Edit", tool_input=given, tool_response=response)

    def staged(self) -> list[str]:
        """Ids of the learnings that have arrived."""
        return staged_in(Staging(self.settings).folder)


@pytest.mark.timeout(600)
def test_an_edit_goes_from_the_installed_hooks_over_the_users_yes_into_an_answer(
    prefect_server: str, tmp_path: Path
) -> None:
    person = Person(tmp_path, prefect_server)
    person.orgmem("init", "--target", "claude-code")
    assert not person.tell("SessionStart", source="startup")
    assert not person.tell("UserPromptSubmit", prompt="add what we learned", source="user")
    person.edit()
    context = json.loads(person.tell("Stop", stop_hook_active=False))["hookSpecificOutput"]["additionalContext"]
    asked = json.loads(context[context.index("\n\n") :])["questions"][0]
    assert "make canary-db" in asked["question"]
    assert person.staged() == []
    payload = answered(asked["question"], YES, cwd=str(person.shop))
    assert not person.tell("PostToolUse", **payload)
    assert not person.tell("Stop", stop_hook_active=True)
    (learning,) = person.staged()
    assert not person.tell("SessionEnd", reason="other")
    curated = json.loads(person.orgmem("curate", "--json"))
    assert (curated["learnings"]["captured"], curated["learnings"]["productive"]) == (1, 1)
    found = json.loads(person.orgmem("search", "integration tests hang at collection", "--json"))["results"]
    assert [(each["project"], each["sources"][0]["learning_id"]) for each in found] == [
        ("github.com/acme/shop", learning)
    ]
    assert "make canary-db" in found[0]["answer"]
    counted = json.loads(person.orgmem("snapshot", "--json"))
    assert (counted["contributed_learnings"], counted["approved"], counted["by_origin"]["hook"]) == (1, 1, 1)
    assert (counted["sessions"], counted["candidates"], counted["prompts_shown"]) == (1, 1, 1)
