"""What a run's tasks work with: settings, clock, run id, curator, embedder and stores, made once at the entry.

A task's parameters are a bench and a batch id. The bench travels to another process as its settings and
run id; stores and models open there anew, lazily. No text of a learning is ever a parameter or a result.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import filelock

from orgmem.errors import BusyError
from orgmem.identity import Clock, now, run_id
from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Curator
from orgmem.models.embed import Embedder, MiniLM
from orgmem.settings import Settings, quiet_libraries
from orgmem.store.journal import Journal
from orgmem.store.lake import Lake
from orgmem.store.memories import MemoryStore
from orgmem.store.staging import Staging
from tasks.neighbourhood import Neighbourhood


@dataclass(frozen=True)
class Bench:
    """The arguments of every task. Hand in fakes for curator, embedder or clock in tests."""

    settings: Settings
    run_id: str = field(default_factory=run_id)
    clock: Clock = now
    curator: Curator = field(default_factory=BuiltinCurator)
    embedder: Embedder = field(default_factory=MiniLM)
    _kept: list[Neighbourhood] = field(default_factory=list, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        """The fields without the opened stores: LanceDB and DuckDB handles belong to one process."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"_kept": []}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)

    @cached_property
    def journal(self) -> Journal:
        """Batches on their way."""
        return Journal(self.settings)

    @cached_property
    def staging(self) -> Staging:
        """Learnings that wait for ingest."""
        return Staging(self.settings)

    @cached_property
    def lake(self) -> Lake:
        """Learnings and dispositions for ever."""
        return Lake(self.settings)

    @cached_property
    def memories(self) -> MemoryStore:
        """What agents find."""
        return MemoryStore(self.settings)

    @contextmanager
    def neighbourhood(self) -> Iterator[Neighbourhood]:
        """The live memories with their vectors: read once a run, grown by each batch.

        After a failure it is forgotten, so that the next try starts from what the tables say.
        """
        live = self._kept.pop() if self._kept else Neighbourhood.of(self.memories.live())
        yield live
        self._kept.append(live)

    @contextmanager
    def alone(self, verb: str) -> Iterator[None]:
        """Hold the tenant's lock for one writing run; released by the system when the process dies.

        Raises:
            BusyError: another process holds it.
        """
        path = self.settings.locks / f"{verb}.lock"
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(path, timeout=0)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise BusyError(
                f"another {verb} run is at work in {self.settings.root}", f"wait for it, then: orgmem {verb}"
            ) from None
        try:
            yield
        finally:
            lock.release()


def open_bench(home: str | None = None, tenant: str | None = None) -> Bench:
    """A bench from plain flow parameters, which a deployment can hold as JSON."""
    given = {"home": Path(home) if home else None, "tenant": tenant}
    settings = Settings.load(**{name: value for name, value in given.items() if value is not None})
    quiet_libraries(settings)
    return Bench(settings, embedder=MiniLM(settings.embed_threads))
