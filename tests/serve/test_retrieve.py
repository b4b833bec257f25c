"""One retrieval: live memories only, best first, within what was asked, nothing that readers may not see."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from orgmem.errors import NotFoundError, UsageError
from orgmem.serve.answer import Found, SearchAnswer, Standing, standing_of
from orgmem.serve.retrieve import LONGEST_QUERY, Question, Retriever, fused
from orgmem.settings import Settings
from orgmem.store.memories import Hit, MemoryStore
from orgmem.store.memory_rows import GOVERNANCE
from schemas.memory import Link, LinkKind, Memory, State, TrustEvidence
from tests.fakes import BagOfWords
from tests.samples import OBSERVED, a_learning, a_memory

NOW = OBSERVED + timedelta(days=10)
SECRET = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


def about(subject: str, **changes: Any) -> Memory:
    fields: dict[str, Any] = {
        "question": f"How do I handle {subject} in the shop?",
        "answer": f"The {subject} of the shop is handled by the {subject} script.",
        "example": None,
    }
    return a_memory(0, a_learning(f"{subject}\n"), **{**fields, **changes})


def retriever(settings: Settings, memories: Sequence[Memory] = (), **more: Any) -> Retriever:
    embedder, store = BagOfWords(), MemoryStore(settings)
    if memories:
        questions = embedder.embed([memory.question for memory in memories])
        answers = embedder.embed([memory.answer for memory in memories])
        store.apply(memories, questions, answers, **more)
    return Retriever(settings, store, embedder, lambda: NOW)


def ids(answer: SearchAnswer) -> list[str]:
    return [found.id for found in answer.results]


def test_the_memory_that_answers_comes_first(settings: Settings) -> None:
    deploy, backup, linter = (about(subject) for subject in ("deploy", "backup", "linter"))
    answer = retriever(settings, [deploy, backup, linter]).search(Question("how to handle the backup"))
    assert ids(answer)[0] == backup.id
    assert not answer.nothing_relevant
    scores = [found.score for found in answer.results]
    assert scores == sorted(scores, reverse=True)


def test_an_empty_store_answers_with_what_to_do(settings: Settings) -> None:
    answer = retriever(settings).search(Question("how do I deploy"))
    assert answer.results == ()
    assert answer.nothing_relevant
    assert answer.hint is not None
    assert "orgmem import" in answer.hint


def test_a_question_about_something_else_finds_nothing_relevant(settings: Settings) -> None:
    answer = retriever(settings, [about("deploy")]).search(Question("best pizza dough recipe"))
    assert answer.results == ()
    assert answer.nothing_relevant


def test_a_bare_identifier_is_found_whatever_its_vector(settings: Settings) -> None:
    long = about("deploy", answer="Words " * 60 + "with `parseCfArgs` at their end.")
    assert ids(retriever(settings, [long]).search(Question("parseCfArgs"))) == [long.id]


def test_retired_and_retracted_memories_are_never_returned(settings: Settings) -> None:
    old, new = about("deploy"), about("deploying", answer="The deploy is handled by make deploy now.")
    gone = about("deploys", state=State.RETRACTED)
    found = retriever(settings, [old, new, gone], superseded={old.id: new.id}).search(Question("handle deploy"))
    assert ids(found) == [new.id]


def test_only_project_filters_and_project_boosts(settings: Settings) -> None:
    mine, other = (
        about("deploy", project=name, answer=f"The deploy goes through {tool}.")
        for name, tool in (("acme/mine", "make"), ("acme/other", "just"))
    )
    other = other.model_copy(update={"id": a_memory(5).id})
    doors = retriever(settings, [mine, other])
    assert ids(doors.search(Question("deploy", project="acme/mine", only_project=True))) == [mine.id]
    for project, first in (("acme/mine", mine), ("acme/other", other)):
        assert ids(doors.search(Question("How do I handle deploy", project=project)))[0] == first.id


def test_explicit_tags_filter(settings: Settings) -> None:
    git, uv = about("deploy", tools=("git",)), about("release", tools=("uv",))
    found = retriever(settings, [git, uv]).search(Question("handle deploy or release", tags=("uv",)))
    assert ids(found) == [uv.id]


def test_tags_that_the_query_names_boost(settings: Settings) -> None:
    plain = about("deploy", tools=("general",))
    tagged = plain.model_copy(
        update={"id": a_memory(5).id, "tools": ("docker",), "answer": plain.answer + " Now."}
    )
    boosted = settings.model_copy(update={"tag_boost": 1.0})
    assert ids(retriever(boosted, [plain, tagged]).search(Question("handle deploy docker")))[0] == tagged.id


def test_what_a_better_result_says_already_is_not_shown_again(settings: Settings) -> None:
    first = about("deploy", project="acme/a")
    twin = first.model_copy(update={"id": a_memory(5).id, "project": "acme/b"})
    other = first.model_copy(update={"id": a_memory(6).id, "answer": first.answer.replace("shop", "`web`")})
    found = ids(retriever(settings, [first, twin, other]).search(Question("handle deploy")))
    assert len(found) == 2
    assert other.id in found


def test_a_limit_is_kept_and_the_order_does_not_depend_on_it(settings: Settings) -> None:
    doors = retriever(settings, [about(f"job{n}") for n in range(20)])
    all_of_them = ids(doors.search(Question("handle the shop", limit=50)))
    assert len(all_of_them) == 20
    assert ids(doors.search(Question("handle the shop"))) == all_of_them[:5]


def test_a_budget_in_tokens_is_kept(settings: Settings) -> None:
    short, long = about("deploy"), about("deployment", answer="deploy " * 200)
    doors = retriever(settings, [short, long])
    assert ids(doors.search(Question("handle deploy", budget_tokens=40))) == [short.id]
    starved = doors.search(Question("handle deploy", budget_tokens=3))
    assert starved.results == ()
    assert not starved.nothing_relevant
    assert starved.hint is not None
    assert "--budget" in starved.hint


@pytest.mark.parametrize(
    "question",
    [
        Question(""),
        Question(" \n\t"),
        Question("x" * (LONGEST_QUERY + 1)),
        Question("x", mode="deep"),
        Question("x", mode="normal"),
        Question("x", limit=0),
        Question("x", limit=51),
        Question("x", budget_tokens=0),
        Question("x", only_project=True),
        Question("x", tags=("no-such-tag",)),
    ],
)
def test_a_question_that_can_not_be_answered_is_a_usage_error_with_a_command(
    settings: Settings, question: Question
) -> None:
    with pytest.raises(UsageError) as caught:
        retriever(settings).search(question)
    assert caught.value.hint.startswith("orgmem search")


def test_a_result_has_the_fields_of_the_contract_and_none_for_governance(settings: Settings) -> None:
    (found,) = retriever(settings, [about("deploy", contributor="person-1")]).search(Question("deploy")).results
    data = found.model_dump(mode="json")
    contract = {"id", "question", "answer", "example", "caveats", "tags", "score", "trust", "project"}
    assert contract | {"created_at", "sources", "links"} <= set(data)
    assert set(data["trust"]) == {"score", "example", "caveats", "recency", "agent", "human"}
    assert set(data["sources"][0]) == {"learning_id", "external_id", "project", "path"}
    assert set(data) & set(GOVERNANCE) == set()
    assert "person-1" not in found.model_dump_json()


def test_trust_is_derived_at_the_moment_of_reading(settings: Settings) -> None:
    (found,) = retriever(settings, [about("deploy")]).search(Question("deploy")).results
    assert found.trust.score == pytest.approx(2 + 0 + 1 + 2 + 1)
    assert found.age_days == 10


def test_a_secret_in_an_old_row_is_masked_on_the_way_out(settings: Settings) -> None:
    leaky = about("deploy", answer=f"The deploy needs token = {SECRET} to run.")
    answer = retriever(settings, [leaky]).search(Question("deploy token"))
    assert ids(answer) == [leaky.id]
    assert SECRET not in answer.model_dump_json()


def test_links_are_shown_from_either_end(settings: Settings) -> None:
    old, new = about("deploy"), about("release")
    link = Link(source=new.id, target=old.id, kind=LinkKind.REFINES, score=0.8)
    doors = retriever(settings, [old, new], links=[link])
    assert [(seen.id, seen.direction) for seen in doors.show(old.id).links] == [(new.id, "from")]
    assert [(seen.id, seen.direction) for seen in doors.show(new.id).links] == [(old.id, "to")]


def test_reading_follows_links_and_names_what_is_missing(settings: Settings) -> None:
    old, new, gone = about("deploy"), about("release"), about("gone", state=State.RETRACTED)
    link = Link(source=new.id, target=old.id, kind=LinkKind.REFINES, score=0.8)
    doors = retriever(settings, [old, new, gone], links=[link])
    answer = doors.read([new.id, "mem_unknown", gone.id, new.id], follow_links=True)
    assert [memory.id for memory in answer.memories] == [new.id, old.id]
    assert answer.missing == ("mem_unknown", gone.id)
    assert [memory.id for memory in doors.read([new.id]).memories] == [new.id]


@pytest.mark.parametrize("number", [0, 51])
def test_reading_takes_one_to_fifty_ids(settings: Settings, number: int) -> None:
    with pytest.raises(UsageError, match="1 to 50"):
        retriever(settings).read(["mem_x"] * number)


def test_showing_an_unknown_memory_is_not_found(settings: Settings) -> None:
    with pytest.raises(NotFoundError, match="mem_x"):
        retriever(settings).show("mem_x")


def test_a_retired_memory_can_be_read_and_names_its_successor(settings: Settings) -> None:
    old, new = about("deploy"), about("release")
    shown = retriever(settings, [old, new], superseded={old.id: new.id}).show(old.id)
    assert (shown.state, shown.superseded_by) == (State.SUPERSEDED, new.id)


@pytest.mark.parametrize(
    ("votes", "standing"),
    [
        ({}, Standing.UNVERIFIED),
        ({"agent_up": 1, "confirmed_at": OBSERVED}, Standing.CONFIRMED),
        ({"agent_up": 1, "human_down": 2, "confirmed_at": OBSERVED}, Standing.DISPUTED),
    ],
)
def test_standing_follows_from_the_evidence(votes: dict[str, Any], standing: Standing) -> None:
    evidence = TrustEvidence(has_example=True, has_caveats=False, observed_at=OBSERVED, **votes)
    assert standing_of(evidence) == standing


HITS = st.dictionaries(st.sampled_from("abcdef"), st.floats(0, 1), max_size=6).map(
    lambda scores: [Hit(id_, score) for id_, score in scores.items()]
)


@given(HITS, HITS, HITS, st.floats(0, 1), st.floats(0, 1))
def test_fused_scores_stay_between_0_and_1(
    questions: list[Hit], answers: list[Hit], keywords: list[Hit], question: float, keyword: float
) -> None:
    weights = Settings(question_weight=question, keyword_weight=keyword)
    scores = fused(questions, answers, keywords, weights)
    assert set(scores) == {hit.id for hit in (*questions, *answers, *keywords)}
    assert all(-1e-9 <= score <= 1 + 1e-9 for score in scores.values())


@pytest.fixture(scope="module")
def some(tmp_path_factory: pytest.TempPathFactory) -> Retriever:
    settings = Settings(home=tmp_path_factory.mktemp("some"))
    return retriever(settings, [about("deploy"), about("backup")])


@given(st.text(min_size=1, max_size=60).filter(lambda text: bool(text.strip())))
@example('"unbalanced AND (')
@example("\ud800 half a character")
@example("' OR 1=1 --")
@hypothesis_settings(max_examples=30)
def test_any_query_with_a_letter_is_answered(some: Retriever, query: str) -> None:
    answer = some.search(Question(query))
    assert len(answer.results) <= 2
    assert all(isinstance(found, Found) for found in answer.results)
    assert answer.model_dump_json()
