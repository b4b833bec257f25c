"""What a run is at, for a person who waits: read off the journal, which every stage writes to."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from orgmem.cli.console import stderr
from orgmem.settings import Settings
from orgmem.store.journal import Journal

GLANCE_SECONDS = 0.5


@contextmanager
def progress_of(settings: Settings) -> Iterator[None]:
    """On a terminal, one line with the batch and the stage it has been through; elsewhere nothing."""
    if not stderr.is_terminal:
        yield
        return
    done = threading.Event()
    with stderr.status("starting") as status:

        def glance() -> None:
            journal = Journal(settings)
            while not done.wait(GLANCE_SECONDS):
                if batches := journal.batches():
                    status.update(f"batch {int(batches[-1])}: {journal.reached(batches[-1])}")

        thread = threading.Thread(target=glance, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
