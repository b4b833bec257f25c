"""The builtin curator: deterministic, extractive, no network. It reads Markdown and understands nothing.

A learning's hunks become blocks (markdown), of which what is new (novelty, noise) is gathered into units, and
each unit into a question, an answer, an example and caveats. Every fact is copied from the learning.
"""

from importlib.resources import files
from pathlib import PurePosixPath

from orgmem.identity import digest
from orgmem.models.builtin.answers import answer_of, caveats_of, example_of
from orgmem.models.builtin.novelty import News, news_of
from orgmem.models.builtin.questions import question_of
from orgmem.models.builtin.units import Unit, units_of
from orgmem.models.builtin.wordlists import word_list
from orgmem.models.curator import Enriched, Enrichment, Nothing, NothingReason
from schemas.learning import Learning
from schemas.memory import Draft

RULES = 1
"""Version of the rules, for readers; `prompt_hash` follows every change of them by itself."""

_PLAIN_FOLDERS = word_list("plain_folders")


def _rules_hash() -> str:
    """Hash of the rules and word lists: they are this package's files."""
    sources = sorted(files(__name__).iterdir(), key=lambda source: source.name)
    return digest(*(source.read_text("utf-8") for source in sources if source.name.endswith((".py", ".toml"))))


class BuiltinCurator:
    """Drafts by rules. The same learning gives the same drafts, always."""

    name = f"builtin/{RULES}"
    prompt_hash = _rules_hash()

    def enrich(self, learning: Learning) -> Enrichment:
        """Drafts in the order of the file, or the reason that weighs most among what was dropped."""
        news = news_of(learning.hunks)
        scope = scope_of(learning)
        drafts = tuple(_draft(unit, scope) for unit in units_of(news.fresh))
        return Enriched(drafts) if drafts else Nothing(_reason(learning, news))


def scope_of(learning: Learning) -> str:
    """The project's last part, after the package the file belongs to: `miniflare of workers-sdk`."""
    project = learning.project.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git")
    for folder in reversed(PurePosixPath(learning.path).parts[:-1]):
        if folder.startswith("."):
            return project
        if folder.lower() not in _PLAIN_FOLDERS:
            return project if folder.lower() in project.lower() else f"{folder} of {project}"
    return project


def _draft(unit: Unit, scope: str) -> Draft:
    caveats = caveats_of(unit)
    return Draft(
        question=question_of(unit, scope),
        answer=answer_of(unit, caveats),
        example=example_of(unit),
        caveats=caveats,
        heading_path=unit.path,
    )


def _reason(learning: Learning, news: News) -> NothingReason:
    if news.fresh:
        return NothingReason.TOO_LITTLE_CONTEXT
    if not any(hunk.after.strip() for hunk in learning.hunks):
        return NothingReason.DELETION_ONLY
    # What stands unchanged in an edited line counts as formatting: it explains only if nothing else does.
    formatting = NothingReason.FORMATTING_ONLY
    telling = [reason for reason in NothingReason if news.dropped[reason] and reason is not formatting]
    return max(telling, key=lambda reason: news.dropped[reason], default=formatting)
