"""What a row of the benchmark table is, and how its figures are taken."""

from __future__ import annotations

import gc
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

PRODUCT: list[str | Path] = [sys.executable, "-m", "inspector"]


class Median(float):
    """The median of several runs. ``spread`` is how far apart the least and the most are, as a part of it."""

    spread: float

    @classmethod
    def of(cls, runs: Sequence[float]) -> Median:
        """The median of these runs."""
        found = cls(statistics.median(runs))
        found.spread = (max(runs) - min(runs)) / found if found else 0.0
        return found


@dataclass(frozen=True)
class Row:
    """One comparison: the reference and the product in the same unit, and the ratio to reach (product / reference).

    ``reach`` is None where none is set: the row tells where the product stands.
    """

    work: str
    reference: float
    product: float
    reach: float | None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """How many times the reference the product takes."""
        return self.product / self.reference if self.reference else float("inf")

    @property
    def spread(self) -> float | None:
        """How far apart the runs of the product were, see Median; None for one run."""
        return getattr(self.product, "spread", None)

    def line(self) -> str:
        """The row as text."""
        verdict = "" if self.reach is None else "reached" if self.ratio <= self.reach else "MISSED"
        reach = "" if self.reach is None else f"{self.reach:.2f}"
        spread = "" if self.spread is None else f"{self.spread:.0%}"
        figures = f"{shown(self.reference, self.unit):>11} {shown(self.product, self.unit):>11} {spread:>6}"
        return f"{self.work:<62} {figures} {self.ratio:>8.2f} {reach:>8}  {verdict}".rstrip()

    def values(self) -> dict[str, object]:
        """The row for JSON."""
        return {**asdict(self), "ratio": self.ratio, "spread": self.spread}


@dataclass(frozen=True)
class Skipped:
    """A comparison with a program that is not here."""

    work: str
    missing: str

    def line(self) -> str:
        """The row as text."""
        return f"{self.work:<62} skipped: no {self.missing} here"

    def values(self) -> dict[str, object]:
        """The row for JSON."""
        return asdict(self)


HEADING = f"{'work':<62} {'reference':>11} {'product':>11} {'spread':>6} {'ratio':>8} {'reach':>8}"


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
    return Median.of([pair[0] for pair in pairs]), Median.of([pair[1] for pair in pairs])


def in_turn(
    reference: list[str | Path], product: list[str | Path], runs: int = 3, remove: Path | None = None
) -> tuple[Median, Median]:
    """The median processor times of both, run in turn after a first of each; ``remove`` is deleted after each."""
    used = [(processor_time(reference, remove), processor_time(product, remove)) for _ in range(runs + 1)][1:]
    return Median.of([each[0] for each in used]), Median.of([each[1] for each in used])


def processor_time(command: list[str | Path], remove: Path | None, given: Mapping[str, str] | None = None) -> float:
    """Seconds of processor time that one run takes, of the system's too; ``given`` is added to its environment."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, env=environment() | dict(given or {}), stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if remove is not None:
        shutil.rmtree(remove) if remove.is_dir() else remove.unlink(missing_ok=True)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def environment() -> dict[str, str]:
    """The environment of a program that is run: with bytecode beside its modules, as where it is installed."""
    found = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    found["PYTHONPATH"] = str(Path(__file__).parents[2])
    return found
