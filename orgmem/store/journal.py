"""The journal: batches on their way through the stages, and the redo log of what a run is about to persist.

    journal/<batch>/learnings.json   the claim
                    <stage>.json     what the stage hands on and what it decided
                    vectors.npz      ids, question and answer vectors of the items that tag handed on

A batch with a `collide.json` is decided: whatever happens afterwards, persisting it again from here
gives the same tables. A batch without one is forgotten after a crash, and its learnings are claimed anew.
The journal is empty when nothing runs.
"""

import io
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from orgmem.settings import Settings
from orgmem.store.atomic import write_atomically
from schemas.batch import Claim, Decided, StageResult
from schemas.disposition import Disposition, Stage

Vectors = NDArray[np.float32]


class Journal:
    """One folder a batch; every file is written whole and renamed."""

    def __init__(self, settings: Settings) -> None:
        self._root = settings.journal

    def batches(self) -> tuple[str, ...]:
        """Ids of all batches here, in the order in which they were claimed."""
        return tuple(sorted(path.name for path in self._root.glob("*") if path.is_dir()))

    def decided(self, batch_id: str) -> bool:
        """Whether the batch can be persisted from here."""
        return self._file(batch_id, Stage.COLLIDE).exists()

    def persisted(self, batch_id: str) -> bool:
        """Whether the batch is in the tables."""
        return self._file(batch_id, Stage.PERSIST).exists()

    def open(self, claim: Claim) -> None:
        """Begin a batch."""
        self._write(claim.batch_id, "learnings.json", claim.model_dump_json().encode())

    def claim(self, batch_id: str) -> Claim:
        """The learnings of a batch."""
        return Claim.model_validate_json((self._root / batch_id / "learnings.json").read_bytes())

    def write(self, batch_id: str, stage: Stage, result: StageResult) -> None:
        """Leave a stage's result for the next."""
        self._write(batch_id, f"{stage}.json", result.model_dump_json().encode())

    def read(self, batch_id: str, stage: Stage) -> StageResult:
        """What a stage has left."""
        return StageResult.model_validate_json(self._file(batch_id, stage).read_bytes())

    def write_vectors(self, batch_id: str, ids: Sequence[str], questions: Vectors, answers: Vectors) -> None:
        """Leave items' vectors, n x dimension each, in the order of their ids."""
        packed = io.BytesIO()
        np.savez(packed, ids=np.array(ids, dtype=np.str_), questions=questions, answers=answers)
        self._write(batch_id, "vectors.npz", packed.getvalue())

    def vectors(self, batch_id: str, ids: Sequence[str]) -> tuple[Vectors, Vectors]:
        """Question vectors and answer vectors of these items, n x dimension each, in the order asked for."""
        with np.load(self._root / batch_id / "vectors.npz", allow_pickle=False) as packed:
            row = {id_: number for number, id_ in enumerate(packed["ids"].tolist())}
            wanted = [row[id_] for id_ in ids]
            return packed["questions"][wanted], packed["answers"][wanted]

    def dispositions(self, batch_id: str) -> tuple[Disposition, ...]:
        """Every decision made about the batch so far, in the order of the stages."""
        files = [file for stage in Stage if (file := self._file(batch_id, stage)).exists()]
        return tuple(row for file in files for row in Decided.model_validate_json(file.read_bytes()).dispositions)

    def reached(self, batch_id: str) -> str:
        """The last stage that has left its result; `claim` before the first."""
        present = [stage.value for stage in Stage if self._file(batch_id, stage).exists()]
        return present[-1] if present else "claim"

    def forget(self, batch_id: str) -> None:
        """Remove a batch; a crash half way leaves it undecided or whole."""
        self._file(batch_id, Stage.COLLIDE).unlink(missing_ok=True)
        shutil.rmtree(self._root / batch_id, ignore_errors=True)

    def _file(self, batch_id: str, stage: Stage) -> Path:
        return self._root / batch_id / f"{stage}.json"

    def _write(self, batch_id: str, name: str, data: bytes) -> None:
        write_atomically(self._root / batch_id / name, data)
