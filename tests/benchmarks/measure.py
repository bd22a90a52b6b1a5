"""What a row of the benchmark table is, and how its figures are taken."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison: the reference and the product in the same unit, and the ratio to reach (product / reference)."""

    work: str
    reference: float
    product: float
    reach: float
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times the reference the product takes."""
        return self.product / self.reference if self.reference else float("inf")

    def line(self) -> str:
        """The row as text."""
        verdict = "reached" if self.ratio <= self.reach else "MISSED"
        figures = f"{shown(self.reference, self.unit):>11} {shown(self.product, self.unit):>11}"
        return f"{self.work:<62} {figures} {self.ratio:>8.2f} {self.reach:>8.2f}  {verdict}"


HEADING = f"{'work':<62} {'reference':>11} {'product':>11} {'ratio':>8} {'reach':>8}"


def shown(figure: float, unit: str) -> str:
    """A figure with a unit that suits its size."""
    if unit == "B":
        return f"{figure / 2**20:.1f} MiB"
    return f"{figure * 1000:.2f} ms" if figure < 1 else f"{figure:.2f} s"


def timed(work: Callable[[], object]) -> float:
    """Seconds that one run takes, with the garbage of earlier runs collected first."""
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def paired(reference: Callable[[], object], product: Callable[[], object], runs: int = 5) -> tuple[float, float]:
    """The medians of both, run in turn so that a machine that changes its speed changes it for both."""
    pairs = [(timed(reference), timed(product)) for _ in range(runs)]
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)
