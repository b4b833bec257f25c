"""The embedded model: the right files, unit vectors, the same alone and in any batch."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from orgmem.errors import IntegrityError
from orgmem.models.embed import MAX_TOKENS, MiniLM
from tests.fakes import BagOfWords

TEXTS = (
    "How do I run the tests?",
    "",
    "Run `pytest -x` with the broker up. " * 3,
    "word " * 400,
    "\u4f60\u597d\uff0c\u4e16\u754c",
    "[SEP] [CLS] [MASK]",
)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def test_vectors_have_unit_length_and_the_dimension_that_is_named(model: MiniLM) -> None:
    vectors = model.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), model.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_text_has_the_same_vector_alone_and_in_any_batch(model: MiniLM) -> None:
    alone = np.concatenate([model.embed([text]) for text in TEXTS])
    assert np.array_equal(model.embed(TEXTS), alone)
    assert np.array_equal(model.embed(TEXTS[::-1]), alone[::-1])


def test_two_threads_give_the_vectors_of_one(model: MiniLM) -> None:
    assert np.array_equal(MiniLM(threads=2).embed(TEXTS), model.embed(TEXTS))


def test_meaning_counts_more_than_words(model: MiniLM) -> None:
    asked, same, other = model.embed(
        ["How do I execute the unit tests?", "Run the test suite with pytest.", "How do I brew coffee?"]
    )
    assert asked @ same > asked @ other + 0.2


def test_what_stands_after_the_last_token_read_changes_nothing(model: MiniLM) -> None:
    start = "word " * MAX_TOKENS
    assert np.array_equal(model.embed([start + "tests"]), model.embed([start + "coffee"]))


def test_no_texts_give_no_vectors_and_load_nothing() -> None:
    missing = MiniLM(vocabulary=Path("nowhere"))
    assert missing.embed([]).shape == (0, 384)


def test_tokens_are_counted_beyond_what_the_model_reads(model: MiniLM) -> None:
    assert model.count_tokens("hello world") == 2
    assert model.count_tokens("word " * 1_000) == 1_000


@pytest.mark.parametrize("file", ["vocabulary", "weights"])
def test_a_file_that_was_tampered_with_is_refused(tmp_path: Path, file: str) -> None:
    tampered = tmp_path / "file"
    tampered.write_bytes(b"[PAD]\n")
    with pytest.raises(IntegrityError, match="not the expected file"):
        MiniLM(**{file: tampered}).embed(["x"])  # type: ignore[arg-type]


def test_a_model_travels_to_another_process_as_its_arguments(model: MiniLM) -> None:
    assert np.array_equal(pickle.loads(pickle.dumps(model)).embed(["x"]), model.embed(["x"]))


@given(st.lists(st.text(max_size=30), max_size=4))
@hypothesis_settings(max_examples=15)
def test_any_texts_can_be_embedded(texts: list[str]) -> None:
    fake, real = BagOfWords().embed(texts), _shared().embed(texts)
    assert fake.shape == real.shape == (len(texts), 384)
    assert np.isfinite(real).all()


_MODELS: list[MiniLM] = []


def _shared() -> MiniLM:
    if not _MODELS:
        _MODELS.append(MiniLM())
    return _MODELS[0]
