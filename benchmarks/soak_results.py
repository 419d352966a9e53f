"""The results of processing hostile files: counts of outcomes, the longest times, and the faults."""

from __future__ import annotations

from collections import Counter

#: Maximum time for one file in seconds.
MAX_SECONDS = 10


class SoakResults:
    """The outcomes of the files, the longest times in seconds, and the faults."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.faults: list[str] = []
        self.slowest = 0.0
        self.longest_wait = 0.0

    def record_duration(self, name: str, seconds: float) -> None:
        """Record the processing time of a file."""
        self.slowest = max(self.slowest, seconds)
        if seconds > MAX_SECONDS + 2:
            self.record_fault(f"{name}: {seconds:.1f} s")

    def record_outcome(self, outcome: str, *, wait_seconds: float) -> None:
        """Record the outcome of one file; ``wait_seconds`` is the caller's waiting time in seconds."""
        self.outcomes[outcome] += 1
        self.longest_wait = max(self.longest_wait, wait_seconds)

    def record_fault(self, text: str) -> None:
        """Record and print a fault, which is an outcome that must not occur."""
        self.faults.append(text)
        print(f"    FAULT {text}", flush=True)

    def print_summary(self, title: str, count: int) -> None:
        """Print the results of one part."""
        outcome_counts = ", ".join(f"{outcome} {number:,}" for outcome, number in self.outcomes.most_common())
        print(
            f"{title}: {count:,} files: {outcome_counts}; slowest {self.slowest:.2f} s, "
            f"longest wait {self.longest_wait:.2f} s; faults {len(self.faults)}", flush=True,
        )  # fmt: skip
