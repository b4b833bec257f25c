"""The published schema is the model's."""

import json

from schemas.generate import LEARNING, learning_schema
from schemas.learning import Learning


def test_the_published_schema_is_the_models() -> None:
    assert LEARNING.read_text(encoding="utf-8") == learning_schema(), "run: python -P -m schemas.generate"


def test_it_names_every_field_as_files_do() -> None:
    names = {info.serialization_alias or name for name, info in Learning.model_fields.items()}
    assert set(json.loads(learning_schema())["properties"]) == names
    assert "schema" in names
