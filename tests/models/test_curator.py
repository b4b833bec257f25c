"""What a curator may answer."""

import pytest

from orgmem.models.builtin import BuiltinCurator
from orgmem.models.curator import Curator, Enriched, NothingReason


def test_an_enrichment_without_drafts_is_refused() -> None:
    with pytest.raises(ValueError, match="Nothing"):
        Enriched(())


def test_the_builtin_curator_is_a_curator_with_a_version_and_a_hash() -> None:
    curator: Curator = BuiltinCurator()
    assert curator.name.startswith("builtin/")
    assert len(curator.prompt_hash) == 24


def test_reasons_are_words_that_a_disposition_can_carry() -> None:
    assert all(reason.isidentifier() and reason.islower() for reason in NothingReason)
