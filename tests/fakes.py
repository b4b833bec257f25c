"""Hand-written stand-ins for what tests must not have: models, clocks, vendors."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from orgmem.text.terms import words


class BagOfWords:
    """An Embedder without a model: a text's vector counts its words, hashed into `dimension` places."""

    name = "bag-of-words"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One unit vector a text; the same words in any order give the same vector."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in words(text) or ("",):
                place = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % self.dimension
                vectors[row, place] += 1
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def count_tokens(self, text: str) -> int:
        """Words between spaces."""
        return len(text.split())
