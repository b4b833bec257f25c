"""What names a repository, whatever way it was cloned."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgmem.capture.remotes import LONGEST, address_of, name_of, path_of
from tests.capture.repositories import git, repository

WORDS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(
    lambda word: not word.endswith(".git")
)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Acme/App.git",
        "https://github.com/acme/app",
        "https://github.com/acme/app/",
        "https://github.com/acme/app.git/",
        "HTTPS://GitHub.com/acme/app.git",
        "https://github.com:443/acme/app.git",
        "http://www.github.com/acme/app",
        "git://github.com/acme/app.git",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app.git",
        "ssh://git@ssh.github.com:443/acme/app.git",
        "git+ssh://git@github.com/acme/app.git",
        "git@github.com:acme/app.git",
        "git@github.com:/acme/app.git",
        "github.com:acme/app",
        "https://user:secret-token@github.com/acme/app.git",
        "https://x-access-token:ghs_abc@github.com/acme/app?token=ghs_abc#main",
    ],
)
def test_every_way_to_write_a_remote_is_one_project(address: str) -> None:
    assert name_of(address) == "github.com/acme/app"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git@git.acme.example:Team/Sub/App.git", "git.acme.example/Team/Sub/App"),
        ("https://git.acme.example:8443/scm/PRJ/app.git", "git.acme.example/scm/PRJ/app"),
        ("ssh://git@[2001:DB8::1]:22/acme/app.git", "2001:db8::1/acme/app"),
        ("git@[2001:db8::1]:acme/app.git", "2001:db8::1/acme/app"),
        ("https://git.acme.example./acme//app", "git.acme.example/acme/app"),
        ("https://dev.azure.com/Org/My%20Project/_git/App", "dev.azure.com/org/my project/app"),
        ("git@ssh.dev.azure.com:v3/org/My Project/app", "dev.azure.com/org/my project/app"),
        ("me@laptop:~/src/app", "laptop/~/src/app"),
    ],
)
def test_other_hosts_keep_the_case_of_paths(address: str, name: str) -> None:
    assert name_of(address) == name


@pytest.mark.parametrize(
    "address",
    [
        *(
            "/srv/git/app.git",
            "../app",
            "./app",
            "~/app",
            "app",
            "file:///srv/git/app.git",
            "C:/src/app",
            "C:\\src\\app",
        ),
        *(
            "",
            "https://",
            "https://token@",
            "https://github.com",
            "https://[bad/x",
            "https://github.com/a%0ab",
            "ssh:///x",
        ),
        *("ext::sh -c evil", "git@github.com:", f"https://git.acme.example/{'x' * LONGEST}"),
    ],
)
def test_paths_and_what_cannot_be_read_name_no_remote(address: str) -> None:
    assert name_of(address) is None


@given(st.sampled_from(["git.acme.example", "github.com"]), WORDS, WORDS, WORDS)
def test_no_credential_is_ever_part_of_a_name(host: str, owner: str, repo: str, secret: str) -> None:
    secret = f"zq{secret}qz"
    for address in (f"https://u:{secret}@{host}/{owner}/{repo}.git", f"https://{secret}@{host}/{owner}/{repo}"):
        name = name_of(address)
        assert name == name_of(f"git@{host}:{owner}/{repo}.git")
        assert name is not None
        assert secret not in name


@given(st.text(max_size=60))
def test_any_text_gives_one_line_of_visible_text_or_nothing(address: str) -> None:
    name = name_of(address)
    assert name is None or (name.isprintable() and "/" in name and len(name) <= LONGEST)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("/srv/git/app.git", "/srv/git/app.git"),
        ("file:///srv/git/app.git", "/srv/git/app.git"),
        ("file://localhost/srv/app", "/srv/app"),
        ("../other", "/src/other"),
        ("sibling", "/src/app/sibling"),
        ("https://token@", None),
        ("ext::sh -c evil", None),
        ("~nobody-of-this-name/x", None),
    ],
)
def test_a_path_is_taken_from_the_clones_folder(address: str, path: str | None) -> None:
    assert path_of(address, "/src/app") == path


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return repository(tmp_path / "app")


def test_origin_goes_before_upstream_before_the_first_by_name(repo: Path) -> None:
    common = str(repo / ".git")
    assert address_of(common) is None
    git(repo, "remote", "add", "zeta", "https://h.example/z")
    git(repo, "remote", "add", "beta", "https://h.example/b")
    assert address_of(common) == "https://h.example/b"
    git(repo, "remote", "add", "upstream", "https://h.example/u")
    assert address_of(common) == "https://h.example/u"
    git(repo, "remote", "add", "origin", "https://h.example/o")
    git(repo, "remote", "set-url", "--add", "origin", "https://mirror.example/o")
    assert address_of(common) == "https://h.example/o"


def test_short_forms_of_the_users_configuration_are_written_out(repo: Path) -> None:
    (repo.parent / ".gitconfig").write_text(
        '[url "https://wrong.example/"]\n\tinsteadOf = a\n[url "git@github.com:acme/"]\n\tinsteadOf = acme:\n'
    )
    git(repo, "remote", "add", "origin", "acme:app")
    assert address_of(str(repo / ".git")) == "git@github.com:acme/app"


def test_a_mirror_in_the_users_configuration_is_no_other_project(repo: Path) -> None:
    (repo.parent / ".gitconfig").write_text(
        '[url "https://mirror.acme.example/"]\n\tinsteadOf = https://github.com/\n'
    )
    git(repo, "remote", "add", "origin", "https://github.com/acme/app")
    assert address_of(str(repo / ".git")) == "https://github.com/acme/app"


def test_remotes_of_an_included_file_count(repo: Path) -> None:
    (repo.parent / "work").write_text('[remote "origin"]\n\turl = https://h.example/o\n')
    git(repo, "config", "include.path", str(repo.parent / "work"))
    assert address_of(str(repo / ".git")) == "https://h.example/o"


def test_without_git_the_configuration_is_read_as_text(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo, "remote", "add", "up.stream", "https://h.example/u")
    git(repo, "remote", "add", "origin", "https://h.example/o")
    git(repo, "config", "branch.main.remote", "origin")
    git(repo, "config", "remote.origin.note", "a#b")
    monkeypatch.setenv("PATH", "")
    assert address_of(str(repo / ".git")) == "https://h.example/o"
    assert address_of(str(repo / "gone")) is None
