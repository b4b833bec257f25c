"""Retrieval, once for every door: the same query gives the same memories by command line and by MCP.

fast: tags named in the query, one embedding, vector search over questions and over answers, full-text search,
one mixture of their scores. Nothing but live memories, and of each only what readers may see.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from orgmem.errors import NotFoundError, UsageError
from orgmem.identity import Clock, now
from orgmem.models.embed import Embedder, MiniLM
from orgmem.serve.answer import Found, MemoryView, ReadAnswer, SearchAnswer, view_of
from orgmem.settings import Settings
from orgmem.store.memories import Hit, MemoryStore, Scope
from orgmem.text.tags import load_registry, tags_of_query
from orgmem.text.terms import facts, words
from schemas.memory import ShownMemory, State, Tags

DEFAULT_LIMIT, MOST_RESULTS = 5, 50
LONGEST_QUERY = 4_000
"""Characters; a question is no document."""
MOST_IDS = 50
POOL = 100
"""Hits of each of the three searches that are ranked, whatever the limit."""
SAME_WORDS = 0.8
"""Share of words from which on two answers are shown once."""


@dataclass(frozen=True)
class Question:
    """A query as a door hands it on, unchecked."""

    text: str
    mode: str = "fast"
    project: str | None = None
    only_project: bool = False
    tags: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT
    budget_tokens: int | None = None


@dataclass(frozen=True)
class Ranked:
    """A candidate and its relevance, boosts included."""

    memory: ShownMemory
    score: float


class Retriever:
    """Answers questions from the memory tables. Model and tables are opened by the first question."""

    def __init__(self, settings: Settings, store: MemoryStore, embedder: Embedder, clock: Clock) -> None:
        self._settings = settings
        self._store = store
        self._embedder = embedder
        self._clock = clock

    def search(self, question: Question) -> SearchAnswer:
        """The memories that answer best.

        Raises:
            UsageError: the question is empty, too long, or asks for what is not there.
        """
        began = time.perf_counter()
        query = self._checked(question)
        ranked = self._ranked(query, question) if self._store.count() else ()
        results = self._results(ranked, question)
        return SearchAnswer(
            query=query,
            mode="fast",
            took_ms=round((time.perf_counter() - began) * 1000),
            results=results,
            nothing_relevant=not ranked,
            hint=None if results else self._hint(bool(ranked)),
        )

    def read(self, ids: Sequence[str], follow_links: bool = False) -> ReadAnswer:
        """Memories by id, retracted ones left out; with `follow_links` those at their links' other ends too.

        Raises:
            UsageError: no id, or more than MOST_IDS.
        """
        if not 1 <= len(ids) <= MOST_IDS:
            raise UsageError(f"ids: 1 to {MOST_IDS}, not {len(ids)}", "orgmem search QUERY")
        wanted = list(dict.fromkeys(ids))
        links = self._store.links_of(wanted)
        if follow_links:
            wanted += [end for link in links for end in (link.source, link.target)]
        memories = self._store.shown(list(dict.fromkeys(wanted)))
        memories = tuple(memory for memory in memories if memory.state is not State.RETRACTED)
        moment = self._clock()
        present = {memory.id for memory in memories}
        return ReadAnswer(
            memories=tuple(view_of(memory, links, moment) for memory in memories),
            missing=tuple(id_ for id_ in dict.fromkeys(ids) if id_ not in present),
        )

    def show(self, id_: str) -> MemoryView:
        """One memory.

        Raises:
            NotFoundError: there is none of this id, or it was retracted.
        """
        answer = self.read([id_])
        if answer.missing:
            raise NotFoundError(f"no memory {id_!r}", "orgmem search QUERY")
        return answer.memories[0]

    def _checked(self, question: Question) -> str:
        """The query's text, if the whole question can be answered. Half characters become question marks."""
        query = question.text.encode("utf-8", "replace").decode("utf-8").strip()
        if not query:
            raise UsageError("the query is empty", 'orgmem search "how do I run the tests"')
        if len(query) > LONGEST_QUERY:
            raise UsageError(
                f"the query has {len(query)} characters, at most {LONGEST_QUERY} are read",
                "orgmem search QUERY",
            )
        if question.mode != "fast":
            raise UsageError(
                f"mode {question.mode!r}: this release has fast only", "orgmem search QUERY --mode fast"
            )
        if not 1 <= question.limit <= MOST_RESULTS:
            raise UsageError(
                f"limit must be 1 to {MOST_RESULTS}, not {question.limit}", "orgmem search QUERY --limit 10"
            )
        if question.budget_tokens is not None and question.budget_tokens < 1:
            raise UsageError(
                f"budget must be at least 1 token, not {question.budget_tokens}",
                "orgmem search QUERY --budget 500",
            )
        if question.only_project and not question.project:
            raise UsageError("only-project needs a project", "orgmem search QUERY --project P --only-project")
        self._check_tags(question.tags)
        return query

    def _check_tags(self, tags: Sequence[str]) -> None:
        if not tags:
            return
        registry, stored = load_registry(), self._store.tags()
        known = {*registry.tools, *registry.types, *stored.tools, *stored.types}
        for tag in tags:
            if tag not in known:
                types = ", ".join(sorted(registry.types))
                raise UsageError(
                    f"unknown tag {tag!r}", f"orgmem search QUERY --tag with a tool's name or one of: {types}"
                )

    def _ranked(self, query: str, question: Question) -> tuple[Ranked, ...]:
        """Every candidate with its boosted relevance, best first; none where nothing is relevant."""
        scope = Scope(question.project if question.only_project else None, question.tags)
        vector = self._embedder.embed([query])[0]
        by_question = self._store.vector_search("question_vector", vector, scope, POOL)
        by_answer = self._store.vector_search("answer_vector", vector, scope, POOL)
        scores = fused(by_question, by_answer, self._store.text_search(query, scope, POOL), self._settings)
        memories = self._store.shown(sorted(scores))
        nearest = max((hit.score for hit in (*by_question, *by_answer)), default=0.0)
        if nearest < self._settings.relevance_floor and not any(has_all_words(one, query) for one in memories):
            return ()
        named = tags_of_query(query, load_registry())
        ranked = (Ranked(one, scores[one.id] + self._boost(one, named, question.project)) for one in memories)
        return tuple(sorted(ranked, key=lambda one: (-one.score, one.memory.id)))

    def _results(self, ranked: Sequence[Ranked], question: Question) -> tuple[Found, ...]:
        """The best that fit, without those that repeat a better one."""
        chosen = self._within_budget(distinct(ranked, question.limit), question.budget_tokens)
        links, moment = self._store.links_of([one.memory.id for one in chosen]), self._clock()
        views = [(view_of(one.memory, links, moment), round(one.score, 4)) for one in chosen]
        return tuple(Found(**dict(view), score=score) for view, score in views)

    def _boost(self, memory: ShownMemory, named: Tags, project: str | None) -> float:
        has_tag = bool({*named.tools} & {*memory.tools} or {*named.types} & {*memory.types})
        return self._settings.tag_boost * has_tag + self._settings.project_boost * (memory.project == project)

    def _within_budget(self, ranked: Sequence[Ranked], budget: int | None) -> list[Ranked]:
        """In order, all that still fit. Tokens are the embedder's word pieces of the fields that are text."""
        if budget is None:
            return list(ranked)
        chosen = []
        for one in ranked:
            memory = one.memory
            texts = (memory.question, memory.answer, memory.example or "", *memory.caveats)
            cost = sum(self._embedder.count_tokens(text) for text in texts)
            if cost <= budget:
                chosen.append(one)
                budget -= cost
        return chosen

    def _hint(self, found_some: bool) -> str:
        if found_some:
            return "nothing fits the budget: ask with a larger --budget"
        if not self._store.count():
            return "orgmem import FILE.jsonl, then orgmem curate: there are no memories yet"
        return "ask without --tag and --only-project, or in other words"


def open_retriever(settings: Settings) -> Retriever:
    """The retriever of a process: real tables, real model, real clock, nothing opened yet."""
    return Retriever(settings, MemoryStore(settings), MiniLM(settings.embed_threads), now)


def fused(
    by_question: Sequence[Hit], by_answer: Sequence[Hit], by_words: Sequence[Hit], settings: Settings
) -> dict[str, float]:
    """One score from 0 to 1 for every memory that a search has found.

    Cosines of question and answer are mixed first; then both parts are stretched to 0..1 over the candidates.
    """
    questions, answers, keywords = (_by_id(hits) for hits in (by_question, by_answer, by_words))
    ids = sorted({*questions, *answers, *keywords})
    share = settings.question_weight
    vector = {id_: share * _or_last(questions, id_) + (1 - share) * _or_last(answers, id_) for id_ in ids}
    vector, keyword = _stretched(vector), _stretched({id_: keywords.get(id_, 0.0) for id_ in ids})
    weight = settings.keyword_weight
    return {id_: weight * keyword[id_] + (1 - weight) * vector[id_] for id_ in ids}


def distinct(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """The first `limit`, without those that say what a better one says, in nearly the same words."""
    chosen: list[Ranked] = []
    for one in ranked:
        if len(chosen) == limit:
            break
        if not any(_repeats(one.memory, better.memory) for better in chosen):
            chosen.append(one)
    return chosen


def has_all_words(memory: ShownMemory, query: str) -> bool:
    """Whether every word of the query stands in the memory's text: an identifier has no meaning to embed."""
    asked = words(query)
    texts = (memory.question, memory.answer, memory.example or "")
    return bool(asked) and {*asked} <= {word for text in texts for word in words(text)}


def _repeats(memory: ShownMemory, better: ShownMemory) -> bool:
    one, other = (frozenset(words(each.answer)) for each in (memory, better))
    return len(one & other) >= SAME_WORDS * len(one | other) and facts(memory.answer) == facts(better.answer)


def _by_id(hits: Sequence[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


def _or_last(scores: Mapping[str, float], id_: str) -> float:
    """The score, or for a memory that this search has not found the least that it has."""
    return scores.get(id_, min(scores.values(), default=0.0))


def _stretched(scores: Mapping[str, float]) -> dict[str, float]:
    least, most = min(scores.values(), default=0.0), max(scores.values(), default=0.0)
    width = most - least
    return {id_: (score - least) / width if width else float(score > 0) for id_, score in scores.items()}
