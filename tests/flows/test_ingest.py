"""The ingest flow, on a real Prefect server."""

import pytest

from flows.ingest import ingest
from orgmem.settings import Settings
from orgmem.store.lake import Lake
from orgmem.store.staging import Staging
from tasks import ingest as ingest_tasks
from tasks.ingest import Ingested
from tests.samples import a_learning


@pytest.mark.usefixtures("prefect_server")
async def test_what_is_staged_is_in_the_lake_afterwards_and_staging_is_empty(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_tasks, "MOST_FILES", 2)
    staging, lake = Staging(settings), Lake(settings)
    for number in range(3):
        staging.write(a_learning(f"Line {number}.\n", external_ids=(f"row-{number}",)))
    (staging.folder / "strange.json").write_text("{")
    done = await ingest(str(settings.home))
    assert (len(done.files), done.learnings, done.rejects) == (4, 3, 1)
    assert staging.names() == ()
    assert [lake.rows(table).num_rows for table in ("learnings", "sightings", "rejects")] == [3, 3, 1]
    before = lake.rows("learnings")
    assert await ingest(str(settings.home)) == Ingested()
    assert lake.rows("learnings") == before
