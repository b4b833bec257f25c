"""Which files the watch list finds."""

import os
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture import tree, watch
from orgmem.capture.project import checkout_of
from orgmem.capture.state.replicas import Checkout
from orgmem.capture.watch import Found, Watch
from orgmem.errors import ConfigurationError
from orgmem.settings import Settings
from tests.capture.repositories import git, repository


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = Path(os.path.realpath(tmp_path)) / "home" / "me"
    home.mkdir(parents=True)
    return home


@pytest.fixture
def app(home: Path) -> Path:
    return repository(home.parent.parent / "app")


def watching(home: Path, **chosen: object) -> Watch:
    """The watch list of a user with this home and these settings."""
    return Watch(Settings(home=home / ".orgmem", **chosen), {"HOME": str(home)})  # type: ignore[arg-type]


def checkout(root: Path) -> Checkout:
    found = checkout_of(str(root))
    assert found is not None
    return found


def found(home: Path, root: Path, **chosen: object) -> dict[str, str | None]:
    """Path and reason to skip of each file found in a checkout."""
    each = watching(home, **chosen).find(checkout(root))
    assert len({one.real_path for one in each}) == len(each)
    return {one.path: one.skipped for one in each}


def write(root: Path, *names: str, text: str = "- a rule\n") -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


MEMORY = (
    *("CLAUDE.md", "docs/CLAUDE.md", ".claude/CLAUDE.md", "services/api/CLAUDE.md"),
    *(".claude/rules/style.md", ".claude/rules/api/errors.md", "packages/x/.claude/rules/x.md"),
    *(".claude/agent-memory/reviewer/MEMORY.md", ".claude/projects/-srv-app/memory/MEMORY.md"),
    *("AGENTS.md", "web/src/AGENTS.md", "AGENTS.override.md", "GEMINI.md", ".agents/AGENTS.md"),
    *(".cursor/rules/base.mdc", "api/.cursor/rules/a/b.mdc", ".cursorrules"),
    *(".github/copilot-instructions.md", "cli/.github/copilot-instructions.md"),
    *(".github/instructions/go.instructions.md", ".github/instructions/a/b.instructions.md"),
    *(".windsurf/rules/base.md", ".windsurfrules", ".devin/rules/base.md"),
    *("x/.clinerules", ".clinerules/base.md", "memory-bank/progress.md", "memory-bank/api/notes.md"),
    ".openhands/microagents/repo.md",
)
NO_MEMORY = (
    *(
        "README.md",
        "docs/agents.md",
        "claude.md",
        "CLAUDE.md.bak",
        "MY-CLAUDE.md",
        "CLAUDE.txt",
        "docs/learned/x.md",
    ),
    *(
        "CLAUDE.local.md",
        ".claude/agent-memory-local/x/MEMORY.md",
        ".claude/commands/x.md",
        ".claude/settings.json",
    ),
    *(".github/instructions/go.md", ".github/CONTRIBUTING.md", ".cursor/rules/readme.md", "rules/style.md"),
    *(
        ".clinerules/hooks/PostToolUse",
        ".claude/projects/x/notes.md",
        "src/memory-bank/x.md",
        "CLAUDE.md/notes.txt",
    ),
    *(
        "node_modules/x/CLAUDE.md",
        "a/vendor/y/AGENTS.md",
        ".venv/lib/CLAUDE.md",
        "target/CLAUDE.md",
        ".git/CLAUDE.md",
    ),
)


@pytest.mark.parametrize("path", MEMORY)
def test_memory_files_of_every_assistant_are_on_the_list(home: Path, path: str) -> None:
    assert watching(home).matches(path)


@pytest.mark.parametrize("path", NO_MEMORY)
def test_other_files_are_not_on_the_list(home: Path, path: str) -> None:
    assert not watching(home).matches(path)


def test_what_is_on_the_list_is_found_and_nothing_else(home: Path, app: Path) -> None:
    write(app, *MEMORY, *(name for name in NO_MEMORY if not name.startswith("CLAUDE.md/")))
    assert found(home, app) == dict.fromkeys(sorted(MEMORY))
    assert all(each.real_path == f"{app}/{each.path}" for each in watching(home).find(checkout(app)))


def test_globs_of_the_user_add_files_and_take_files_away(home: Path, app: Path) -> None:
    write(
        app,
        "CLAUDE.md",
        "docs/agents/a/b.md",
        "docs/agents/x.txt",
        "notes/a.md",
        "notes/private/b.md",
        "lib/AGENTS.md",
    )
    chosen = {"watch": ("docs/agents/**/*.md", "notes"), "watch_ignore": ("lib/", "private", "/CLAUDE.md")}
    assert list(found(home, app, **chosen)) == ["docs/agents/a/b.md", "notes/a.md"]
    assert not watching(home, **chosen).matches("lib/AGENTS.md")
    assert watching(home, watch=("notes", "!notes/a.md")).matches("notes/b.md")
    assert not watching(home, watch=("notes", "!notes/a.md")).matches("notes/a.md")


def test_a_glob_that_names_a_folder_of_build_results_is_followed_there(home: Path, app: Path) -> None:
    write(app, "build/AGENTS.md", "dist/AGENTS.md", ".git/AGENTS.md")
    assert list(found(home, app)) == []
    assert list(found(home, app, watch=("build/*.md", ".git/*.md"))) == ["build/AGENTS.md"]


def test_a_glob_that_is_none_is_said_in_one_line(home: Path) -> None:
    with pytest.raises(ConfigurationError, match="setting 'watch_ignore': '!' is no glob"):
        watching(home, watch_ignore=("docs", "!"))


def test_another_list_has_another_digest(home: Path) -> None:
    choices: tuple[dict[str, object], ...] = (
        {},
        {"watch": ("a", "b")},
        {"watch": ("a",), "watch_ignore": ("b",)},
        {"watch_personal": True},
        {"watch_outside": True},
    )
    digests = [watching(home, **each).digest for each in choices]
    assert len(set(digests)) == len(digests)
    assert watching(home).digest == digests[0]


def test_other_repositories_inside_are_not_entered(home: Path, app: Path) -> None:
    write(repository(app / "nested"), "CLAUDE.md")
    write(app / "tree", "CLAUDE.md")
    (app / "tree" / ".git").write_text("gitdir: /elsewhere/.git/worktrees/tree\n")
    write(app / "empty", "CLAUDE.md")
    (app / "empty" / ".git").mkdir()
    assert list(found(home, app)) == ["empty/CLAUDE.md"]


def test_a_link_beside_its_target_counts_once(home: Path, app: Path) -> None:
    """openclaw/openclaw#42519."""
    write(app, "CLAUDE.md", "docs/rules.txt")
    (app / "AGENTS.md").symlink_to("CLAUDE.md")
    (app / "GEMINI.md").symlink_to("AGENTS.md")
    (app / "docs" / "CLAUDE.md").symlink_to("rules.txt")
    assert found(home, app) == {"CLAUDE.md": None, "docs/rules.txt": None}


@pytest.mark.parametrize("target", ["outside", "nested", "special"])
def test_a_link_out_of_the_project_is_said_and_not_read(home: Path, app: Path, target: str) -> None:
    write(home.parent / "outside", "CLAUDE.md")
    write(repository(app / "nested"), "CLAUDE.md")
    os.mkfifo(home.parent / "special")
    targets = {"outside": home.parent / "outside" / "CLAUDE.md", "nested": app / "nested" / "CLAUDE.md"}
    (app / "CLAUDE.md").symlink_to(targets.get(target, home.parent / "special"))
    assert found(home, app) == {"CLAUDE.md": tree.OUTSIDE}
    allowed = found(home, app, watch_outside=True)
    assert allowed == {"CLAUDE.md": tree.SPECIAL if target == "special" else None}


def test_a_link_to_what_is_ignored_is_ignored(home: Path, app: Path) -> None:
    write(app, "node_modules/x/RULES.md", "private/rules.md")
    (app / "CLAUDE.md").symlink_to("node_modules/x/RULES.md")
    (app / "AGENTS.md").symlink_to("private/rules.md")
    assert found(home, app, watch_ignore=("private",)) == {}


def test_loops_and_links_to_nothing_are_no_files(home: Path, app: Path) -> None:
    """vectorize-io/hindsight#2324."""
    (app / "CLAUDE.md").symlink_to("AGENTS.md")
    (app / "AGENTS.md").symlink_to("CLAUDE.md")
    (app / "GEMINI.md").symlink_to("gone.md")
    (app / "loop").symlink_to(".")
    (app / ".claude").symlink_to(".claude")
    assert found(home, app) == {}


def test_a_memory_folder_may_be_a_link_inside_the_project(home: Path, app: Path) -> None:
    write(app, "shared/style.md", "shared/deep/api.md", "shared/note.txt", "shared/base.mdc", "dot/CLAUDE.md")
    (app / ".claude").mkdir()
    (app / ".cursor").mkdir()
    (app / ".claude" / "rules").symlink_to("../shared")
    (app / ".cursor" / "rules").symlink_to("../shared")
    (app / "x").mkdir()
    (app / "x" / ".claude").symlink_to("../dot")
    assert list(found(home, app)) == ["dot/CLAUDE.md", "shared/base.mdc", "shared/deep/api.md", "shared/style.md"]


def test_a_memory_folder_that_leads_back_to_the_project_ends(home: Path, app: Path) -> None:
    write(app, "CLAUDE.md", "a/notes.md", "b/notes.md")
    for name, target in (("a", "a"), ("b", "a"), ("c", ".")):
        (app / name / ".claude").mkdir(parents=True)
        (app / name / ".claude" / "rules").symlink_to(app / target)
    assert list(found(home, app)) == ["CLAUDE.md", "a/notes.md"]


@pytest.mark.parametrize("place", ["outside", "nested"])
def test_a_memory_folder_outside_is_said_and_not_entered(home: Path, app: Path, place: str) -> None:
    company = repository(home.parent / "company" if place == "outside" else app / "company")
    write(company, "style.md")
    (app / ".claude").mkdir()
    (app / ".claude" / "rules").symlink_to(company)
    assert found(home, app) == {".claude/rules": tree.OUTSIDE}
    assert found(home, app, watch_outside=True) == {".claude/rules/style.md": None}


def test_a_memory_folder_that_leads_to_all_around_the_project_is_not_entered(home: Path, app: Path) -> None:
    write(app.parent, "notes.md")
    (app / ".claude").mkdir()
    (app / ".claude" / "rules").symlink_to("/")
    (app / ".cursor").symlink_to(app.parent)
    assert found(home, app, watch_outside=True) == {}


def test_other_linked_folders_are_not_followed(home: Path, app: Path) -> None:
    write(home.parent / "other", "CLAUDE.md")
    (app / "other").symlink_to(home.parent / "other")
    assert found(home, app, watch_outside=True) == {}


def test_pipes_and_folders_are_no_memory(home: Path, app: Path) -> None:
    os.mkfifo(app / "CLAUDE.md")
    write(app, "AGENTS.md/CLAUDE.md")
    assert found(home, app) == {"CLAUDE.md": tree.SPECIAL, "AGENTS.md/CLAUDE.md": None}


def test_names_that_no_learning_can_have_are_said_and_can_be_printed(home: Path, app: Path) -> None:
    write(app, "a\nb/CLAUDE.md", "c/CLAUDE.md")
    names = {"a\\u000ab/CLAUDE.md": tree.NO_NAME, "c/CLAUDE.md": None}
    try:
        os.mkdir(os.fsencode(app) + b"/\xff")  # noqa: PTH102 - the name is bytes
        Path(os.fsdecode(os.fsencode(app) + b"/\xff/CLAUDE.md")).touch()
        names["\\xff/CLAUDE.md"] = tree.NO_NAME
    except OSError:
        pass  # this disk has UTF-8 names only
    assert found(home, app) == names
    assert all(each.real_path.isprintable() for each in watching(home).find(checkout(app)))


def test_a_path_is_composed_whatever_the_disk_says(home: Path, app: Path) -> None:
    name = unicodedata.normalize("NFD", "größe")
    write(app, f"{name}/CLAUDE.md")
    assert list(found(home, app)) == [unicodedata.normalize("NFC", "größe/CLAUDE.md")]
    assert Path(watching(home).find(checkout(app))[0].real_path).exists()


def test_a_deep_tree_is_walked_and_a_path_too_long_is_said(home: Path, app: Path) -> None:
    write(app, "/".join(["d"] * 900) + "/CLAUDE.md", "/".join(["e" * 100] * 25) + "/CLAUDE.md")
    assert list(found(home, app).values()) == [None, tree.TOO_LONG]


def test_a_folder_that_cannot_be_read_hides_no_other(home: Path, app: Path) -> None:
    write(app, "closed/CLAUDE.md", "open/CLAUDE.md")
    (app / "closed").chmod(0)
    if os.access(app / "closed", os.R_OK):
        pytest.skip("this user may read everything")
    try:
        assert found(home, app) == {"open/CLAUDE.md": None}
    finally:
        (app / "closed").chmod(0o700)


def test_a_checkout_that_is_gone_has_no_files(home: Path) -> None:
    assert watching(home).find(Checkout(str(home.parent / "gone"), "local/gone-0", None)) == ()


def test_a_plain_folder_is_walked_without_its_repositories(home: Path) -> None:
    folder = home / "src"
    write(folder, "CLAUDE.md", "notes/AGENTS.md")
    write(repository(folder / "app"), "CLAUDE.md")
    assert list(found(home, folder)) == ["CLAUDE.md", "notes/AGENTS.md"]


PERSONAL = (
    *(".claude/CLAUDE.md", ".claude/rules/tea.md", ".claude/agent-memory/reviewer/MEMORY.md"),
    *(".codex/AGENTS.md", ".codex/memories/MEMORY.md", ".gemini/GEMINI.md", ".copilot/copilot-instructions.md"),
    *(".copilot/instructions/a.instructions.md", ".config/devin/AGENTS.md", ".config/opencode/AGENTS.md"),
    "Documents/Cline/Rules/a.md",
)


def test_personal_memory_is_not_looked_at_unless_asked_for(home: Path) -> None:
    write(home, *PERSONAL, "CLAUDE.md", ".claude/projects/-x/memory/MEMORY.md")
    assert watching(home).personal([Checkout("/x", "github.com/acme/x", None)]) == ()
    for place in (home, home.parent, home / ".claude", home / ".codex"):
        assert found(home, place) == {}, place
    repository(home)
    assert list(found(home, home)) == ["CLAUDE.md"]
    repository(home / ".codex" / "memories")
    assert found(home, home / ".codex" / "memories") == {}


def test_personal_memory_is_found_if_asked_for(home: Path) -> None:
    write(
        home,
        *PERSONAL,
        ".claude/projects/-x/session.jsonl",
        ".claude/plans/CLAUDE.md",
        ".codex/sessions/AGENTS.md",
    )
    personal = watching(home, watch_personal=True).personal()
    assert sorted(each.path for _, each in personal) == sorted(f"~/{name}" for name in PERSONAL)
    assert {each.skipped for _, each in personal} == {None}
    assert {checkout.project for checkout, _ in personal} == {watch.PERSONAL_PROJECT}
    assert all(each.real_path.startswith(f"{checkout.root}/") for checkout, each in personal)
    ignoring = watching(home, watch_personal=True, watch_ignore=("MEMORY.md", "~/.claude/rules")).personal()
    assert not {"~/.claude/rules/tea.md", "~/.codex/memories/MEMORY.md"} & {each.path for _, each in ignoring}


def test_auto_memory_outside_a_known_checkout_belongs_to_its_project(home: Path) -> None:
    write(home, ".claude/projects/-srv-my-app/memory/MEMORY.md", ".claude/projects/-srv-my-app/memory/a/topic.md")
    write(home, ".claude/projects/-srv-other/memory/MEMORY.md")
    known = (Checkout("/srv/my_app", "github.com/acme/app", "/srv/my_app/.git"),)
    personal = watching(home, watch_personal=True).personal(known)
    memory = str(home / ".claude/projects/-srv-my-app/memory")
    assert [each for each, _ in personal] == [Checkout(memory, "github.com/acme/app", None)] * 2
    assert [each.path for _, each in personal] == [
        "~/.claude/projects/memory/MEMORY.md",
        "~/.claude/projects/memory/a/topic.md",
    ]


def test_variables_of_assistants_move_their_folders(home: Path, app: Path) -> None:
    write(home.parent, "claude/CLAUDE.md", "codex/AGENTS.md")
    environ = {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home.parent / "claude"),
        "CODEX_HOME": str(home.parent / "codex"),
    }
    asked = Watch(Settings(home=home, watch_personal=True), environ)
    assert {each.path: each.real_path for _, each in asked.personal()} == {
        "~/.claude/CLAUDE.md": str(home.parent / "claude" / "CLAUDE.md"),
        "~/.codex/AGENTS.md": str(home.parent / "codex" / "AGENTS.md"),
    }
    assert Watch(Settings(home=home), environ).find(checkout(home.parent / "claude")) == ()


def test_personal_files_in_a_project_are_watched_if_asked_for(home: Path, app: Path) -> None:
    write(app, "CLAUDE.local.md", ".claude/agent-memory-local/x/MEMORY.md")
    assert found(home, app) == {}
    assert len(found(home, app, watch_personal=True)) == 2


def test_a_link_to_personal_memory_is_never_read_unasked(home: Path, app: Path) -> None:
    write(home, ".claude/CLAUDE.md")
    (app / "CLAUDE.md").symlink_to(home / ".claude" / "CLAUDE.md")
    assert found(home, app) == {"CLAUDE.md": tree.OUTSIDE}
    assert found(home, app, watch_outside=True) == {}


@pytest.mark.parametrize("folder", [".claude/projects/-srv-app/memory", ".claude/agent-memory/reviewer"])
def test_auto_memory_about_the_user_is_said_and_not_read(home: Path, app: Path, folder: str) -> None:
    write(app, f"{folder}/tea.md", text="---\nname: tea\ntype: user\n---\nPrefers tea.\n")
    write(app, f"{folder}/uv.md", "CLAUDE.md", text="---\ntype: feedback\n---\nUse uv.\n")
    assert found(home, app) == {"CLAUDE.md": None, f"{folder}/tea.md": watch.ABOUT_USER, f"{folder}/uv.md": None}
    assert found(home, app, watch_personal=True)[f"{folder}/tea.md"] is None


NAMES = st.sampled_from(
    ["CLAUDE.md", "AGENTS.md", ".claude", "rules", "a.md", "b.mdc", "docs", ".cursor", "build", ".git"]
)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(files=st.lists(PATHS, max_size=6), links=st.lists(st.tuples(PATHS, PATHS), max_size=3))
def test_whatever_the_tree_each_file_is_found_once_and_lies_inside(
    tmp_path_factory: pytest.TempPathFactory, files: list[str], links: list[tuple[str, str]]
) -> None:
    root = Path(os.path.realpath(tmp_path_factory.mktemp("any")))
    for name in files:
        if (
            not any(part.is_file() for part in (root / name, *(root / name).parents))
            and not (root / name).exists()
        ):
            write(root, name)
    for link, target in links:
        path = root / link
        if path.parent.is_dir() and not os.path.lexists(path):
            path.symlink_to(root / target)
    listed = Watch(Settings(home=root), {"HOME": "/home/me"})
    each = listed.find(Checkout(str(root), "local/any-0", None))
    assert len({one.real_path for one in each}) == len(each)
    assert all(one == Found(f"{root}/{one.path}", one.path, None) for one in each)
    assert {one.path for one in each} >= {
        name
        for name in files
        if listed.matches(name) and (root / name).is_file() and os.path.realpath(root / name) == f"{root}/{name}"
    }


def test_a_worktree_inside_the_project_is_left_to_itself(home: Path, app: Path) -> None:
    write(app, "CLAUDE.md")
    git(app, "add", ".")
    git(app, "commit", "--quiet", "-m", "first")
    git(app, "worktree", "add", "--quiet", ".claude/worktrees/fix")
    assert list(found(home, app)) == ["CLAUDE.md"]
    assert list(found(home, app / ".claude/worktrees/fix")) == ["CLAUDE.md"]
