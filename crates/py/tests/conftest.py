"""What all tests have: the program, the demo trace, and schedulers of their own."""

import bisect
import collections
import os
import signal
from pathlib import Path

import idlewise
import pytest

ROOT = Path(__file__).resolve().parents[3]

# A shell's jobs in the background begin with Ctrl-C ignored, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Fifo(idlewise.Scheduler):
    """First come, first served: what `noop` does."""

    def __init__(self) -> None:
        self.waiting: collections.deque[idlewise.Request] = collections.deque()

    def insert(self, now: int, request: idlewise.Request) -> None:
        self.waiting.append(request)

    def dispatch(self, now: int) -> idlewise.Request | idlewise.WaitUntil | None:
        return self.waiting.popleft() if self.waiting else None


class Elevator(idlewise.Scheduler):
    """Upwards by address, then from the beginning again: what `c-look` does."""

    def __init__(self) -> None:
        self.waiting: list[idlewise.Request] = []
        self.head = 0

    def insert(self, now: int, request: idlewise.Request) -> None:
        bisect.insort(self.waiting, request, key=lambda other: other.start)

    def dispatch(self, now: int) -> idlewise.Request | None:
        if not self.waiting:
            return None
        place = bisect.bisect_left(self.waiting, self.head, key=lambda other: other.start)
        request = self.waiting.pop(place % len(self.waiting))
        self.head = request.end
        return request


@pytest.fixture(scope="session")
def cli() -> str:
    """The program, built as the wheel was."""
    path = os.environ.get("IDLEWISE_CLI")
    if not path:
        pytest.skip("IDLEWISE_CLI names no program to compare with")
    return path


@pytest.fixture(scope="session")
def demo() -> Path:
    """A recording of tar, git, sqlite3, find and PostgreSQL."""
    return ROOT / "traces" / "demo.ftrace.zst"
