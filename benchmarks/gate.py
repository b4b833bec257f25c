"""What the gate costs for a memory of 200 words, once it is loaded; and what loading it costs.

    python -P benchmarks/gate.py [--rounds 30] [--loads 5]

Invented memories, each of another kind. No two rounds judge the same text, so that nothing is remembered from the
last. Each kind's best, median and 95th percentile, in ms, and the median as a multiple of a fixed piece of work
that is done just before: the same on a fast and on a slow machine. Then each check alone. Loading is what the
first verdict of a new process costs, over a bare interpreter. The exit code is 1 where a median is over the limit.
"""

import argparse
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from tasks.gate.policy import plain
from tasks.gate.verdict import CHECKS, judge, judge_text

DROP = plain("drop")

CHECKOUT = Path(__file__).resolve().parent.parent
WORDS = 200
LIMIT_MS = 20.0
KINDS: Mapping[str, tuple[str, ...]] = {
    "prose": (),
    "list and table": ("a convention", "a table"),
    "code": ("code",),
    "many languages": ("many languages", "emoji"),
    "with findings": ("a shell call", "a near name", "an order"),
    "hidden and encoded": ("a split token", "hidden letters", "look-alikes", "encoded"),
}
"""What is planted in the prose, by name."""
SENTENCE = "Service {} keeps the orders of region {} until the nightly run has read them."
LOAD = """
from tasks.gate.policy import plain
from tasks.gate.verdict import judge_text
judge_text('```py\\nx = 1\\n```\\n`pip install x`', plain('drop'))
"""


class Cost(NamedTuple):
    """Of one call, ms, and how many times the fixed work its median is."""

    best: float
    median: float
    ninety_fifth: float
    ratio: float


def main() -> int:
    """Run it; exit code 1 when a kind of memory takes too long."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--loads", type=int, default=5)
    given = parser.parse_args()
    if min(given.rounds, given.loads) < 1:
        parser.error("--rounds and --loads are 1 at least")
    sys.path.insert(0, str(CHECKOUT))  # the texts are among the tests, which are no package
    kinds = texts_of(given.rounds + 1)
    found = {kind: cost_of(text_verdict, texts) for kind, texts in kinds.items()}
    found["draft and learning"] = cost_of(drafts_of(kinds["prose"]), kinds["prose"])
    print(f"{f'{WORDS} words, ms':<20} {'best':>8} {'median':>8} {'95 %':>8} {'ratio':>8}")
    for kind, cost in found.items():
        print(f"{kind:<20} {cost.best:>8.2f} {cost.median:>8.2f} {cost.ninety_fifth:>8.2f} {cost.ratio:>8.1f}")
    print(f"\n{'one check, ms':<20} {'least':>8} {'mean':>8} {'most':>8}")
    for category, check in CHECKS.items():
        medians = [cost_of(check, texts).median for texts in kinds.values()]
        print(f"{category:<20} {min(medians):>8.2f} {statistics.fmean(medians):>8.2f} {max(medians):>8.2f}")
    print(f"\nloading {loading(given.loads):.0f} ms")
    return int(any(cost.median > LIMIT_MS for cost in found.values()))


def texts_of(count: int) -> dict[str, list[str]]:
    """So many texts of each kind."""
    from tests.gate_texts import TEXTS

    return {
        kind: [filled("\n".join(TEXTS[name] for name in names), number) for number in range(count)]
        for kind, names in KINDS.items()
    }


def filled(planted: str, number: int) -> str:
    """What is planted, and prose about other services for each number, `WORDS` words in all."""
    text = planted
    for region in range(WORDS):
        lacking = WORDS - len(text.split())
        text += ("\n\n" if region % 3 == 0 else " ") * bool(lacking)
        text += " ".join(SENTENCE.format(WORDS * number + region, region).split()[:lacking])
    return text


def text_verdict(text: str) -> object:
    """The verdict on a bare text."""
    return judge_text(text, DROP)


def drafts_of(texts: list[str]) -> Callable[[str], object]:
    """What judges the drafts whose answers the texts are, with their learnings to be grounded in."""
    from tests.samples import a_draft, a_learning

    drafts = {text: (a_draft(answer=text), a_learning(text)) for text in texts}
    return lambda text: judge(*drafts[text], DROP)


def cost_of(call: Callable[[str], object], texts: list[str]) -> Cost:
    """What the call costs over the texts; the first only loads what it needs."""
    call(texts[0])
    pairs = [(milliseconds(fixed_work), milliseconds(partial(call, text))) for text in texts[1:]]
    costs = sorted(cost for _, cost in pairs)
    ninety_fifth = costs[round(0.95 * (len(costs) - 1))]
    ratio = statistics.median(cost / fixed for fixed, cost in pairs)
    return Cost(costs[0], statistics.median(costs), ninety_fifth, ratio)


def fixed_work() -> object:
    """About a millisecond of what Python does all day."""
    return [Counter(f"{SENTENCE} {number}".split()).most_common(3) for number in range(200)]


def milliseconds(call: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - began)


def loading(times: int) -> float:
    """Median of what the first verdict of a new process costs, over a bare interpreter, ms."""

    def process(code: str) -> None:
        subprocess.run([sys.executable, "-P", "-c", code], check=True)

    process(LOAD)
    return statistics.median(
        milliseconds(partial(process, LOAD)) - milliseconds(partial(process, "pass")) for _ in range(times)
    )


if __name__ == "__main__":
    sys.exit(main())
