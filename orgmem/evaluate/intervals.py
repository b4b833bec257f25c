"""Rates with their intervals."""

from math import sqrt
from typing import NamedTuple

Z = 1.959964
"""Standard normal quantile of 0.975: intervals hold 95 %."""


class Rate(NamedTuple):
    """So many of so many."""

    hits: int
    total: int

    @property
    def share(self) -> float | None:
        """From 0 to 1; none of nothing."""
        return self.hits / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's 95 % interval of the share, after Wilson (1927); none of nothing."""
        if not self.total:
            return None
        share, square = self.hits / self.total, Z * Z / self.total
        middle = (share + square / 2) / (1 + square)
        half = Z * sqrt(share * (1 - share) / self.total + square / (4 * self.total)) / (1 + square)
        return max(0.0, middle - half), min(1.0, middle + half)
