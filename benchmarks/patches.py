"""Take every row of a corpus for an edit, and apply its patch to the masked text before it.

    python -P benchmarks/patches.py CORPUS.jsonl.gz

Prints how many rows and learnings there are, how many patches gave the masked text after the edit to the byte, and
a hash of all patches, which is the same on any machine under any load. Exit code 1 if a patch was not exact.
"""

import gzip
import hashlib
import json
import sys
from pathlib import Path

from orgmem.capture.changes import Place, Source, change_of
from orgmem.text.diff import apply_patch, line_hunks, make_patch, patch_agrees


def main() -> int:
    """Run it; exit code 1 when a patch is not exact."""
    rows = exact = 0
    learnings: set[str] = set()
    patches = hashlib.sha256()
    with gzip.open(Path(sys.argv[1]), "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            rows += 1
            place = Place(row["repo"], row["path"], "/", f"/{row['path']}")
            change = change_of(place, row["before"].encode(), row["after"].encode(), Source("hook", None, 0.0))
            if change is None:
                print(f"{row['id']}: nothing that a reader sees")
                continue
            patch = make_patch(change.before, change.after)
            learnings.add(change.learning_id)
            patches.update(patch.encode("utf-8", "surrogatepass"))
            is_exact = apply_patch(patch, change.before) == change.after
            exact += is_exact and patch_agrees(patch, line_hunks(change.before, change.after))
            if not is_exact:
                print(f"{row['id']}: another text")
    print(
        f"{rows:,} rows, {len(learnings):,} learnings, {exact:,} exact patches; sha256 {patches.hexdigest()[:16]}"
    )
    return int(exact != rows)


if __name__ == "__main__":
    sys.exit(main())
