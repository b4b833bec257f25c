"""The default watch list, as data: where assistants keep what they learned, after their own documentation.

Patterns are those of .gitignore, except that they name files, never folders with all they hold.
docs/watch-list.md is made from it.
"""

from typing import NamedTuple


class Surface(NamedTuple):
    """Memory files of one assistant inside a project."""

    assistant: str
    pattern: str


class Place(NamedTuple):
    """A folder outside every project in which an assistant keeps memory of its user."""

    assistant: str
    folder: str
    """`~` is the user's home folder."""
    patterns: tuple[str, ...]
    """Inside the folder."""
    variable: str = ""
    """The environment variable that names another folder."""


PROJECT = (
    Surface("Claude Code", "CLAUDE.md"),
    Surface("Claude Code", "**/.claude/rules/**/*.md"),
    Surface("Claude Code", "**/.claude/agent-memory/**/*.md"),
    Surface("Claude Code", "**/.claude/projects/**/memory/**/*.md"),
    Surface("Codex, Cursor, Copilot, Windsurf, OpenCode and others", "AGENTS.md"),
    Surface("Codex", "AGENTS.override.md"),
    Surface("Gemini CLI", "GEMINI.md"),
    Surface("Cursor", "**/.cursor/rules/**/*.mdc"),
    Surface("Cursor", ".cursorrules"),
    Surface("Copilot", "**/.github/copilot-instructions.md"),
    Surface("Copilot", "**/.github/instructions/**/*.instructions.md"),
    Surface("Windsurf", "**/.windsurf/rules/**/*.md"),
    Surface("Windsurf", ".windsurfrules"),
    Surface("Devin", "**/.devin/rules/**/*.md"),
    Surface("Cline", ".clinerules"),
    Surface("Cline", "**/.clinerules/**/*.md"),
    Surface("Cline", "memory-bank/**/*.md"),
    Surface("OpenHands", "**/.openhands/microagents/**/*.md"),
)
"""Watched in every project."""

PERSONAL_IN_PROJECT = (
    Surface("Claude Code", "CLAUDE.local.md"),
    Surface("Claude Code", "**/.claude/agent-memory-local/**/*.md"),
)
"""Watched with `watch_personal`: files of one user in a project's folder."""

AUTO_MEMORY = ("**/.claude/projects/**/memory/**/*.md", "**/.claude/agent-memory/**/*.md")
"""Of these, files whose frontmatter says `type: user` are personal."""

PERSONAL = (
    Place(
        "Claude Code", "~/.claude", ("/CLAUDE.md", "/rules/**/*.md", "/agent-memory/**/*.md"), "CLAUDE_CONFIG_DIR"
    ),
    Place("Claude Code, managed", "/etc/claude-code", ("/CLAUDE.md",)),
    Place("Claude Code, managed", "/Library/Application Support/ClaudeCode", ("/CLAUDE.md",)),
    Place("Codex", "~/.codex", ("/AGENTS.md", "/AGENTS.override.md", "/memories/**/*.md"), "CODEX_HOME"),
    Place("Gemini CLI", "~/.gemini", ("/GEMINI.md",)),
    Place("Copilot", "~/.copilot", ("/copilot-instructions.md", "/instructions/**/*.instructions.md")),
    Place("Devin", "~/.config/devin", ("/AGENTS.md",)),
    Place("OpenCode", "~/.config/opencode", ("/AGENTS.md",)),
    Place("Cline", "~/Documents/Cline/Rules", ("**/*.md",)),
)
"""Watched with `watch_personal`; without it, never looked at, even if a project's folder holds them."""

PROJECTS_MEMORY = "projects/{slug}/memory"
"""Claude Code's auto-memory of one working folder, inside its folder above."""

PRUNED = frozenset(
    (
        *(".git", ".hg", ".svn", ".jj", ".bare"),
        *("node_modules", "bower_components", ".yarn", ".pnpm-store", "vendor", "Pods", "Carthage", ".cargo"),
        *(".venv", "venv", "site-packages", "__pycache__", ".tox", ".nox", ".eggs", ".direnv"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache", ".gradle", ".terraform"),
        *("target", "dist", "build", ".build", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache"),
    )
)
"""Folders of other people's code and of build results, never walked unless a glob of the user names one."""
