"""Who carries the work of a sweep out: threads of this process, or the workers of a Ray cluster."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from idlewise._native import Error

Work = Callable[..., Any]
Arguments = tuple[Any, ...]

AHEAD = 2
"""Calls that wait at each worker beside the one that it is at."""


PAUSE = 0.5
"""Seconds before a thread's second try; before each further one twice as long."""


def attempt(work: Work, arguments: Arguments) -> tuple[Any, Exception | None]:
    """What `work` returns, or why it would fail each time. All else is raised, and may go otherwise the next time."""
    try:
        return work(*arguments), None
    except (ValueError, Error) as error:
        return None, error


def value_of(value: Any, error: Exception | None) -> Any:
    """What an attempt returned. Raises what it failed with."""
    if error is not None:
        raise error
    return value


class Engine(ABC):
    """Carries calls out, each again if its failure may be a matter of chance, and gives what they return.

    What would fail each time is raised at once: idlewise's own errors.
    """

    workers: int

    @abstractmethod
    def each(self, work: Work, calls: Sequence[Arguments]) -> Iterator[Any]:
        """Call `work` with each of these arguments. What they return comes in any order."""

    @abstractmethod
    def close(self, stopped: bool) -> None:
        """Let go of the workers; of what they are at, too, if `stopped`."""


class Threads(Engine):
    """Threads of this process: the work itself is in Rust, and does not hold Python."""

    def __init__(self, jobs: int | None, retries: int) -> None:
        self.workers = jobs or len(os.sched_getaffinity(0))
        self._retries = retries
        self._pool = ThreadPoolExecutor(self.workers, "idlewise")
        self._stop = threading.Event()

    def _goes_on(self, share: float, requests: int) -> bool:
        return not self._stop.is_set()

    def _call(self, work: Work, arguments: Arguments) -> tuple[Any, Exception | None]:
        for tried in range(self._retries):
            try:
                return attempt(work, (*arguments, self._goes_on))
            except Exception:
                if self._stop.wait(PAUSE * 2**tried):
                    raise
        return attempt(work, (*arguments, self._goes_on))

    def each(self, work: Work, calls: Sequence[Arguments]) -> Iterator[Any]:
        """Call `work` with each of these arguments, and at the end one that says whether to go on."""
        left: set[Future[Any]] = {self._pool.submit(self._call, work, arguments) for arguments in calls}
        try:
            while left:
                # Ctrl-C comes through between two waits.
                done, left = wait(left, timeout=0.2, return_when=FIRST_COMPLETED)
                for future in done:
                    yield value_of(*future.result())
        finally:
            for future in left:
                future.cancel()

    def close(self, stopped: bool) -> None:
        """End the threads."""
        if stopped:
            self._stop.set()
        self._pool.shutdown(wait=True, cancel_futures=True)


class Ray(Engine):
    """The workers of a Ray cluster.

    It is the cluster to which this program is connected, or which RAY_ADDRESS names, or one on this machine.
    """

    def __init__(self, jobs: int | None, retries: int) -> None:
        try:
            import ray
        except ImportError as error:
            raise ImportError("engine='ray' wants Ray: pip install 'idlewise[ray]'") from error
        self._ray = ray
        self._began = not ray.is_initialized()
        if self._began:
            there = "RAY_ADDRESS" in os.environ
            ray.init(
                num_cpus=None if there else jobs,
                include_dashboard=None if there else False,
                log_to_driver=False,
            )
        resources: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
        found = max(1, int(resources.get("CPU", 1)))
        self.workers = min(found, jobs or found)
        # A larger cluster would begin at once what waits.
        self._most = self.workers * (1 + AHEAD) if self.workers == found else self.workers
        self._retries = retries
        self._left: list[Any] = []

    def each(self, work: Work, calls: Sequence[Arguments]) -> Iterator[Any]:
        """Call `work` with each of these arguments. A worker that dies, and an error, are a reason to try again."""
        ray = self._ray
        remote = ray.remote(num_cpus=1, max_retries=self._retries, retry_exceptions=True)(attempt)
        waiting = list(reversed(calls))
        while waiting or self._left:
            while waiting and len(self._left) < self._most:
                self._left.append(remote.remote(work, waiting.pop()))
            done, self._left = ray.wait(self._left, num_returns=1, timeout=1.0)
            for reference in done:
                try:
                    value = value_of(*ray.get(reference))
                except ray.exceptions.RayTaskError as error:
                    # As what it was, not as what Ray makes of it.
                    raise error.cause from error
                except ray.exceptions.WorkerCrashedError as error:
                    raise Error(f"a worker died {self._retries + 1} times over the same runs: {error}") from error
                yield value

    def close(self, stopped: bool) -> None:
        """Let go of the cluster. One that was begun here ends."""
        if stopped:
            for reference in self._left:
                self._ray.cancel(reference, force=True)
        if self._began:
            self._ray.shutdown()


def engine(name: str, jobs: int | None, retries: int) -> Engine:
    """The engine called `name`.

    Raises:
        ValueError: There is none of that name.
    """
    if name == "local":
        return Threads(jobs, retries)
    if name == "ray":
        return Ray(jobs, retries)
    raise ValueError(f"there is no engine {name!r}: it is 'local' or 'ray'")
