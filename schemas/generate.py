"""Writes learning.v1.json, the published schema of a staging file: `python -P -m schemas.generate`."""

import json
from pathlib import Path

from schemas.learning import Learning

LEARNING = Path(__file__).with_name("learning.v1.json")


def learning_schema() -> str:
    """JSON Schema of a learning, as other programs must write it."""
    return json.dumps(Learning.model_json_schema(by_alias=True), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    LEARNING.write_text(learning_schema(), encoding="utf-8")
