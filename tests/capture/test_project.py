"""Which checkout a path lies in, and which project that is."""

import os
import shutil
from pathlib import Path

import pytest

from orgmem.capture.git import LONGEST_BLOB
from orgmem.capture.project import blob_at_head, checkout_of, head_of
from orgmem.capture.state.replicas import Checkout
from tests.capture.repositories import commit, git, repository

REMOTE = "git@github.com:Acme/App.git"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for repositories, and a home without any configuration of git."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    (tmp_path / "home").mkdir()
    return Path(os.path.realpath(tmp_path))


def checkout(path: Path) -> Checkout:
    found = checkout_of(str(path))
    assert found is not None
    return found


def test_a_path_belongs_to_the_working_tree_around_it(here: Path) -> None:
    app = repository(here / "app", REMOTE)
    (app / "src").mkdir()
    expected = Checkout(str(app), "github.com/acme/app", str(app / ".git"))
    for path in (app, app / "src", app / "CLAUDE.md", app / "src" / "not-there.md", app / ".git" / "hooks"):
        assert checkout(path) == expected


def test_worktree_clone_and_symlinked_path_are_one_project(here: Path) -> None:
    """thedotmack/claude-mem#551, vectorize-io/hindsight#2324."""
    app = repository(here / "app", REMOTE)
    commit(app, {"CLAUDE.md": "a\n"})
    git(app, "worktree", "add", "--quiet", str(here / "tree"))
    git(here, "clone", "--quiet", str(app), "clone")
    git(here / "clone", "remote", "set-url", "origin", "https://github.com/acme/app")
    (here / "link").symlink_to("app")
    found = [checkout(here / name) for name in ("app", "tree", "clone", "link")]
    assert {each.project for each in found} == {"github.com/acme/app"}
    assert [each.root for each in found] == [str(here / name) for name in ("app", "tree", "clone", "app")]
    assert found[0].common_dir == found[1].common_dir == found[3].common_dir != found[2].common_dir


def test_without_a_remote_worktrees_and_local_clones_are_one_project(here: Path) -> None:
    app = repository(here / "app")
    commit(app, {"CLAUDE.md": "a\n"})
    git(app, "worktree", "add", "--quiet", str(here / "tree"))
    git(here, "clone", "--quiet", "--bare", str(app), "hub.git")
    git(here, "clone", "--quiet", str(here / "hub.git"), "clone")
    git(here, "clone", "--quiet", f"file://{here}/hub.git", "other")
    names = {checkout(here / name).project for name in ("app", "tree", "clone", "other", "hub.git")}
    assert len(names) == 1
    assert next(iter(names)).startswith("local/app-")


def test_two_repositories_of_one_name_are_two_projects(here: Path) -> None:
    names = {checkout(repository(here / folder / "app")).project for folder in ("a", "b")}
    assert len(names) == 2


def test_a_clone_of_a_local_clone_has_the_remote_of_the_first(here: Path) -> None:
    repository(here / "app", REMOTE)
    git(here, "clone", "--quiet", str(here / "app"), "clone")
    assert checkout(here / "clone").project == "github.com/acme/app"


def test_clones_that_name_each_other_are_local(here: Path) -> None:
    for one, other in (("a", "b"), ("b", "a")):
        repository(here / one, f"../{other}")
    assert checkout(here / "a").project.startswith("local/")


def test_a_new_remote_counts_at_once(here: Path) -> None:
    app = repository(here / "app")
    assert checkout(app).project.startswith("local/app-")
    git(app, "remote", "add", "origin", REMOTE)
    assert checkout(app).project == "github.com/acme/app"


def test_credentials_in_a_remote_are_in_no_identity(here: Path) -> None:
    for number, address in enumerate(
        ("https://u:s3cret@git.acme.example/a/b", "https://u:s3cret@", "https:/u:s3cret@h/x", "x::s3cret")
    ):
        assert "s3cret" not in checkout(repository(here / f"app{number}", address)).project


def test_nested_repositories_and_submodules_are_projects_of_their_own(here: Path) -> None:
    library = repository(here / "library")
    commit(library, {"CLAUDE.md": "a\n"})
    app = repository(here / "app", REMOTE)
    git(app, "submodule", "--quiet", "add", str(library), "libs/library")
    nested = repository(app / "nested")
    module = checkout(app / "libs" / "library" / "CLAUDE.md")
    assert module.root == str(app / "libs" / "library")
    assert module.common_dir == str(app / ".git" / "modules" / "libs" / "library")
    assert module.project == checkout(library).project
    assert head_of(module) == git(library, "rev-parse", "HEAD")
    assert blob_at_head(module, "CLAUDE.md") == b"a\n"
    assert checkout(nested / "x.md").root == str(nested)


def test_worktrees_beside_a_bare_repository_are_its_checkouts(here: Path) -> None:
    app = repository(here / "app")
    commit(app, {"CLAUDE.md": "a\n"})
    git(here, "clone", "--quiet", "--bare", str(app), "work/.bare")
    git(here / "work" / ".bare", "remote", "set-url", "origin", REMOTE)
    (here / "work" / ".git").write_text("gitdir: ./.bare\n")
    git(here / "work", "worktree", "add", "--quiet", "main")
    assert checkout(here / "work" / "main") == Checkout(
        str(here / "work" / "main"), "github.com/acme/app", str(here / "work" / ".bare")
    )
    assert checkout(here / "work").root == str(here / "work")


def test_a_worktree_whose_repository_is_not_on_this_machine_keeps_its_root(here: Path) -> None:
    outer = repository(here / "outer", REMOTE)
    (outer / "tree").mkdir()
    (outer / "tree" / ".git").write_text("gitdir: /host/only/app/.git/worktrees/tree\n")
    found = checkout(outer / "tree" / "CLAUDE.md")
    assert found.root == str(outer / "tree")
    assert found.project.startswith("local/")
    assert head_of(found) is None


def test_an_empty_git_folder_makes_no_repository(here: Path) -> None:
    app = repository(here / "app", REMOTE)
    (app / "sub" / ".git").mkdir(parents=True)
    assert checkout(app / "sub").root == str(app)


def test_a_folder_outside_every_repository_is_its_own_checkout(here: Path) -> None:
    (here / "notes").mkdir()
    (here / "notes" / "CLAUDE.md").touch()
    found = checkout(here / "notes" / "CLAUDE.md")
    assert found == checkout(here / "notes")
    assert found.root == str(here / "notes")
    assert found.project.startswith("local/notes-")
    assert found.common_dir is None
    assert head_of(found) is None
    assert blob_at_head(found, "CLAUDE.md") is None


def test_what_is_gone_has_no_checkout(here: Path) -> None:
    app = repository(here / "app")
    commit(app, {"CLAUDE.md": "a\n"})
    git(app, "worktree", "add", "--quiet", str(here / "tree"))
    shutil.rmtree(here / "tree")
    for path in (
        here / "tree",
        here / "tree" / "CLAUDE.md",
        here / "not-there.md",
        Path("relative"),
        Path("/a\0b"),
    ):
        assert checkout_of(str(path)) is None
    assert checkout_of("") is None


def test_a_folder_whose_name_is_not_utf_8_has_no_checkout(here: Path) -> None:
    folder = os.fsencode(here) + b"/caf\xe9"
    try:
        os.mkdir(folder)  # noqa: PTH102 - the name is bytes
    except OSError:
        pytest.skip("this disk has UTF-8 names only")
    assert checkout_of(os.fsdecode(folder)) is None


def test_a_symlinked_file_belongs_to_the_checkout_it_stands_in(here: Path) -> None:
    app, other = repository(here / "app"), repository(here / "other")
    (other / "CLAUDE.md").touch()
    (app / "CLAUDE.md").symlink_to(other / "CLAUDE.md")
    assert checkout(app / "CLAUDE.md").root == str(app)


def test_a_path_in_another_case_is_the_same_checkout_where_the_disk_says_so(here: Path) -> None:
    app = repository(here / "app")
    if not (here / "APP").exists():
        pytest.skip("this disk tells cases apart")
    assert checkout(here / "APP") == checkout(app)


def test_variables_of_git_lead_nowhere(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app, other = repository(here / "app", REMOTE), repository(here / "other", "https://github.com/acme/other")
    commit(app, {"CLAUDE.md": "a\n"})
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert checkout(app).project == "github.com/acme/app"
    assert blob_at_head(checkout(app), "CLAUDE.md") == b"a\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_a_repository_of_another_user_is_known_too(here: Path) -> None:
    app = repository(here / "app", REMOTE)
    commit(app, {"CLAUDE.md": "a\n"})
    for path in (app, *app.rglob("*")):
        os.chown(path, 12345, 12345)
    assert checkout(app).project == "github.com/acme/app"
    assert blob_at_head(checkout(app), "CLAUDE.md") == b"a\n"


def test_without_git_a_checkout_is_found_all_the_same(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = repository(here / "app", REMOTE)
    last = commit(app, {"CLAUDE.md": "a\n"})
    monkeypatch.setenv("PATH", "")
    assert checkout(app) == Checkout(str(app), "github.com/acme/app", str(app / ".git"))
    assert head_of(checkout(app)) == last
    assert blob_at_head(checkout(app), "CLAUDE.md") is None


def test_no_program_of_a_repositorys_configuration_is_started(here: Path) -> None:
    app = repository(here / "app", REMOTE)
    commit(app, {"CLAUDE.md": "a\n"})
    script = here / "script"
    script.write_text(f"#!/bin/sh\ntouch {here}/started\n")
    script.chmod(0o700)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "gpg.program", "diff.external", "core.editor"):
        git(app, "config", key, str(script))
    git(app, "config", "log.showSignature", "true")
    blob_at_head(checkout(app), "CLAUDE.md")
    from orgmem.capture.git import commits

    assert commits(str(app / ".git"), "CLAUDE.md", None, "HEAD")
    assert not (here / "started").exists()


@pytest.mark.parametrize("way", ["loose", "packed", "detached", "symbolic", "sha256", "reftable"])
def test_head_is_read_from_files(here: Path, way: str) -> None:
    app = here / "app"
    app.mkdir()
    options = {"sha256": ["--object-format=sha256"], "reftable": ["--ref-format=reftable"]}.get(way, [])
    try:
        git(app, "init", "--quiet", "--initial-branch=main", *options)
    except AssertionError:
        pytest.skip("this git is too old")
    last = commit(app, {"CLAUDE.md": "a\n"})
    git(app, "branch", "zz")
    if way == "packed":
        git(app, "pack-refs", "--all")
        assert not (app / ".git" / "refs" / "heads" / "main").exists()
    if way == "detached":
        git(app, "checkout", "--quiet", "--detach")
    if way == "symbolic":
        git(app, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
        git(app, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert head_of(checkout(app)) == last


def test_the_head_of_a_worktree_is_its_own(here: Path) -> None:
    app = repository(here / "app")
    first = commit(app, {"CLAUDE.md": "a\n"})
    git(app, "worktree", "add", "--quiet", str(here / "tree"))
    second = commit(here / "tree", {"CLAUDE.md": "b\n"})
    assert (head_of(checkout(app)), head_of(checkout(here / "tree"))) == (first, second)
    assert blob_at_head(checkout(here / "tree"), "CLAUDE.md") == b"b\n"


def test_before_the_first_commit_there_is_no_head(here: Path) -> None:
    app = checkout(repository(here / "app"))
    assert head_of(app) is None
    assert blob_at_head(app, "CLAUDE.md") is None


def test_a_head_that_leads_nowhere_is_none(here: Path) -> None:
    app = repository(here / "app")
    (app / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
    assert head_of(checkout(app)) is None
    for text in ("ref: refs/heads/.invalid\n", "", "ref:", "nonsense", "\0"):
        (app / ".git" / "HEAD").write_text(text)
        assert head_of(checkout(app)) is None
    (app / ".git" / "HEAD").unlink()
    os.mkfifo(app / ".git" / "HEAD")
    assert head_of(checkout(app)) is None


def test_names_of_any_kind_are_read_at_head(here: Path) -> None:
    app = repository(here / "app")
    names = ("docs/a b/CLAUDE.md", "-x.md", "*.md", ":(top)y.md", "größe.md", 'quote".md')
    commit(app, dict.fromkeys(names, "text\n"))
    assert [blob_at_head(checkout(app), name) for name in names] == [b"text\n"] * len(names)


def test_links_folders_and_huge_files_have_no_content_at_head(here: Path) -> None:
    app = repository(here / "app")
    (app / "AGENTS.md").symlink_to("CLAUDE.md")
    git(app, "add", "AGENTS.md")
    commit(app, {"docs/CLAUDE.md": "a\n", "huge.md": b"x" * (LONGEST_BLOB + 1)})
    for path in ("AGENTS.md", "docs", "huge.md", "gone.md", "", "."):
        assert blob_at_head(checkout(app), path) is None
