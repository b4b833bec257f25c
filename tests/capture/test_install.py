"""Installing for Claude Code: what others wrote stays, and uninstalling gives the bytes back."""

import json
from pathlib import Path

import pytest

from orgmem.capture import install
from orgmem.capture.claude_code import BEGIN, HOOK, Program
from orgmem.capture.jsonc import parse, value
from orgmem.capture.memory_file import without_our_block
from orgmem.errors import InputError
from orgmem.settings import Settings

PROGRAM = Program(Path("/opt/orgmem/bin/orgmem-hook"), Path("/opt/orgmem/bin/orgmem"), None)
NEWER = Program(Path("/opt/orgmem-2/bin/orgmem-hook"), Path("/opt/orgmem-2/bin/orgmem"), "/srv/orgmem")

FOREIGN = """\
{
  // ours since 2025
  "model": "opus", /* do not change */
  "hooks": {
    "PostToolUse": [
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "prettier --write"}]}, // format
    ],
    "Stop": []
  },
  "permissions": {"allow": ["Bash(ls:*)"]}
}
"""
NASTY = [
    "{}",
    "{}\n",
    "{\n}\n",
    "\n  {  }  \n",
    '{"hooks": {}}',
    '{"hooks":{"Stop":[]}}',
    FOREIGN,
    FOREIGN.replace("\n", "\r\n"),
    "\ufeff" + FOREIGN,
    FOREIGN.replace("  ", "\t"),
    FOREIGN.rstrip("\n"),
    '{"a": 1,}',
    '{"a": [1, 2, 3,], // last\n}',
    "{// nothing here\n}",
    "{/* nothing */}",
    '{"h\\u006foks": {"Stop": []}}',
    '{"env": {"URL": "http://x//y", "P": "/* no comment */"}}',
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/usr/bin/orgmem-hook-of-others"}]}]}}',
    '{"big": "' + "x" * 1_000_000 + '"}',
    '{"text": "日本語 \\ud83d\\ude00"}\n',
    '{"hooks": {"PostToolUse": [{"matcher": "", "hooks": []}]}}',
    '{\n    "four": {\n        "spaces": true\n    }\n}',
]
INVALID = {
    "": None,
    "{": "1:2",
    '{"a": }': "1:7",
    '{"a": 1 "b": 2}': "1:9",
    '{"a": 1, "a": 2}': "1:10",
    "[]": "1:1",
    '{"hooks": []}': "1:11",
    '{"hooks": {"Stop": {}}}': "1:20",
    '{\n  "a": tru\n}': "2:8",
    "{} {}": "1:4",
    "{'a': 1}": "1:2",
    '{"a": NaN': "1:10",
    "[" * 500: "1:102",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


def put(root: Path, settings: Settings, program: Program = PROGRAM, *, lessons: bool = False) -> int:
    edits = install.plan_install("project", root, root.parent, program, lessons=lessons)
    install.apply(settings, edits, install=True)
    return len(edits)


def take(root: Path, settings: Settings) -> None:
    install.apply(settings, install.plan_uninstall(settings, "project", root, root.parent), install=False)


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def settings_file(root: Path, text: str) -> Path:
    file = root / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(text.encode())
    return file


def said(file: Path) -> dict[str, object]:
    text = file.read_bytes().decode("utf-8-sig")
    found = value(text, parse(text, "x"))
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("text", NASTY)
def test_installed_and_uninstalled_the_bytes_are_those_of_before(
    root: Path, settings: Settings, text: str
) -> None:
    file = settings_file(root, text)
    before = tree(root)
    put(root, settings)
    assert HOOK in file.read_text("utf-8")
    take(root, settings)
    assert tree(root) == before


@pytest.mark.parametrize("text", NASTY)
def test_installed_twice_is_installed_once_and_others_content_is_as_it_was(
    root: Path, settings: Settings, text: str
) -> None:
    file = settings_file(root, text)
    foreign = said(file)
    put(root, settings)
    once = tree(root)
    assert put(root, settings) == 0
    assert tree(root) == once
    found = said(file)
    assert {key: found[key] for key in foreign if key != "hooks"} == {
        key: foreign[key] for key in foreign if key != "hooks"
    }
    for comment in ("// ours since 2025", "/* do not change */", "// format"):
        assert (comment in file.read_text("utf-8")) == (comment in text)
    was, now = foreign.get("hooks", {}), found["hooks"]
    assert isinstance(was, dict)
    assert isinstance(now, dict)
    for event, entries in was.items():
        assert now[event][: len(entries)] == entries


@pytest.mark.parametrize("text", NASTY)
def test_changed_by_others_since_only_our_entries_go(root: Path, settings: Settings, text: str) -> None:
    file = settings_file(root, text)
    put(root, settings)
    changed = file.read_bytes() + b"\n// a later remark\n"
    file.write_bytes(changed)
    foreign = {key: each for key, each in said(file).items() if key != "hooks"}
    take(root, settings)
    left = file.read_text("utf-8")
    assert f'bin/{HOOK}"' not in left
    assert left.endswith("// a later remark\n")
    assert {key: each for key, each in said(file).items() if key != "hooks"} == foreign


@pytest.mark.parametrize(("text", "place"), INVALID.items())
def test_invalid_settings_are_refused_with_their_place_and_nothing_is_written(
    root: Path, settings: Settings, text: str, place: str | None
) -> None:
    file = settings_file(root, text)
    before = tree(root)
    if place is None:
        put(root, settings)
        assert "hooks" in said(file)
        return
    with pytest.raises(InputError) as caught:
        put(root, settings)
    assert f"{file}:{place}: " in caught.value.message
    assert tree(root) == before


def test_a_new_release_takes_the_place_of_the_old_one(root: Path, settings: Settings) -> None:
    settings_file(root, FOREIGN)
    before = tree(root)
    put(root, settings)
    put(root, settings, NEWER)
    text = (root / ".claude" / "settings.json").read_text("utf-8")
    assert "/opt/orgmem/bin" not in text
    assert text.count(str(NEWER.hook)) == text.count("/srv/orgmem") == 8
    take(root, settings)
    assert tree(root) == before


@pytest.mark.parametrize("record_is_lost", [False, True])
def test_what_others_wrote_between_two_installs_outlives_the_uninstall(
    root: Path, settings: Settings, record_is_lost: bool
) -> None:
    file = settings_file(root, FOREIGN)
    put(root, settings)
    file.write_text(file.read_text("utf-8").replace('"model": "opus"', '"model": "sonnet"'), "utf-8")
    if record_is_lost:
        (settings.capture_folder / "installed.json").unlink()
    put(root, settings, NEWER)
    take(root, settings)
    assert said(file)["model"] == "sonnet"
    assert f'bin/{HOOK}"' not in file.read_text("utf-8")


def test_without_its_record_our_entries_are_found_all_the_same(root: Path, settings: Settings) -> None:
    settings_file(root, FOREIGN)
    put(root, settings)
    (settings.capture_folder / "installed.json").unlink()
    take(root, settings)
    assert said(root / ".claude" / "settings.json")["model"] == "opus"
    assert HOOK not in (root / ".claude" / "settings.json").read_text("utf-8")


def test_uninstalling_for_all_projects_leaves_a_projects_own_server(root: Path, settings: Settings) -> None:
    put(root, settings)
    before = tree(root)
    install.apply(settings, install.plan_uninstall(settings, "user", root, root.parent), install=False)
    assert tree(root) == before


def test_an_empty_project_is_empty_again_folders_included(root: Path, settings: Settings) -> None:
    put(root, settings, lessons=True)
    assert {".mcp.json", ".claude/settings.json", ".claude/skills/orgmem/SKILL.md", "CLAUDE.md"} == set(tree(root))
    servers = json.loads((root / ".mcp.json").read_text())["mcpServers"]
    assert servers["orgmem"] == {"command": str(PROGRAM.orgmem), "args": ["mcp"]}
    take(root, settings)
    assert list(root.iterdir()) == []


def test_the_other_servers_of_a_project_stay(root: Path, settings: Settings) -> None:
    (root / ".mcp.json").write_text('{"mcpServers": {"db": {"command": "db-mcp"}}}')
    before = tree(root)
    put(root, settings)
    assert set(json.loads((root / ".mcp.json").read_text())["mcpServers"]) == {"db", "orgmem"}
    take(root, settings)
    assert tree(root) == before


@pytest.mark.parametrize("text", ["# Shop\n", "# Shop", "", "# Shop\r\n\r\nRun it.\r\n", "# Shop\n\n\n"])
def test_the_line_about_lessons_is_never_captured_and_goes_again(
    root: Path, settings: Settings, text: str
) -> None:
    file = root / "CLAUDE.md"
    file.write_bytes(text.encode())
    put(root, settings, lessons=True)
    whole = file.read_bytes().decode()
    assert BEGIN in whole
    assert without_our_block(whole).strip() == text.strip()
    file.write_bytes((whole + "A later line.\n").encode())
    take(root, settings)
    assert file.read_bytes().decode().startswith(text.rstrip())
    assert "orgmem" not in file.read_bytes().decode()


def test_a_linked_settings_file_stays_a_link(root: Path, settings: Settings, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    (root / ".claude").mkdir()
    (root / ".claude" / "settings.json").symlink_to(real)
    put(root, settings)
    assert (root / ".claude" / "settings.json").is_symlink()
    assert HOOK in real.read_text()
    take(root, settings)
    assert real.read_text() == "{}"


def test_a_failure_half_way_puts_everything_back(root: Path, settings: Settings) -> None:
    settings_file(root, "{}")
    before = tree(root)
    edits = install.plan_install("project", root, root.parent, PROGRAM, lessons=False)
    (root / ".mcp.json").write_text("{}")  # made by somebody since
    with pytest.raises(InputError, match="has just changed"):
        install.apply(settings, edits, install=True)
    (root / ".mcp.json").unlink()
    assert tree(root) == before


def test_what_its_owner_has_made_read_only_is_not_written(root: Path, settings: Settings) -> None:
    settings_file(root, "{}").chmod(0o444)
    before = tree(root)
    with pytest.raises(InputError, match="is read-only") as refused:
        put(root, settings)
    assert refused.value.hint.startswith("chmod u+w ")
    assert tree(root) == before
