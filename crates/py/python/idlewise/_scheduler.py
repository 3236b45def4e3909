"""Schedulers: those that there are, and your own."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from idlewise import _checks, _native
from idlewise._native import Device, Request, WaitUntil
from idlewise._words import Value, shown


class Scheduler(ABC):
    """A scheduler of your own: a class that decides which waiting request the disk gets next.

    The simulator makes one for each run and calls it whenever something happens. It is for learning and for trying
    ideas: one in Rust is many times faster, and runs in the Linux kernel too. First come, first served::

        class Fifo(idlewise.Scheduler):
            def __init__(self):
                self.waiting = collections.deque()

            def insert(self, now, request):
                self.waiting.append(request)

            def dispatch(self, now):
                return self.waiting.popleft() if self.waiting else None

        idlewise.compare(workload="random", schedulers=["noop", Fifo])

    `now` is the time in nanoseconds since the run began. It never decreases.

    Results call it by the name of its class, or by the class's attribute `name`, if it has one (`name = "my fifo"`).
    What has no name of its own, such as a `functools.partial`, needs that attribute. No other scheduler and no set may
    have the name.
    """

    def begin(self, device: Device) -> None:
        """A run begins on this device. Not needed; it may set things up."""

    @abstractmethod
    def insert(self, now: int, request: Request) -> None:
        """A request has arrived. Keep it until you dispatch it."""

    @abstractmethod
    def dispatch(self, now: int) -> Request | WaitUntil | None:
        """The disk has room for one request, and some wait: what now?

        Returns:
            A request that waits, which is then no longer yours; or `WaitUntil(time)` to let the disk idle until then
            or until anything happens; or None to be asked again only after something has happened.
        """

    def complete(self, now: int, request: Request) -> None:
        """The disk has finished this request. Not needed."""

    def grown(self, now: int, request: Request) -> None:
        """A merge has made a waiting request longer, at its front or its end.

        Not needed: without it requests grow at their ends only, so that `request.start` stays.
        """

    def remove(self, now: int, request: Request) -> None:
        """A waiting request has become a part of another one: forget it.

        Not needed: without it you may return such a request, and are asked again at once.
        """

    def exited(self, now: int, issuer: int) -> None:
        """A process has exited. Not needed."""


Own: TypeAlias = Callable[[], Scheduler]
"""What makes a scheduler: a class, or a function without arguments."""

OPTIONAL = ("complete", "remove", "grown", "exited")


def methods(make: Own, device: Device) -> tuple[Any, ...]:
    """The methods of a new scheduler; None for those that it leaves as they are."""
    scheduler = make()
    for name in ("insert", "dispatch"):
        if not callable(getattr(scheduler, name, None)):
            raise TypeError(f"a scheduler has the methods insert and dispatch, and {scheduler!r} has no {name}")

    def own(name: str) -> Any:
        base = getattr(Scheduler, name)
        method = getattr(scheduler, name, None)
        return None if getattr(method, "__func__", None) is base else method

    begin = own("begin")
    if begin is not None:
        begin(device)
    return (scheduler.insert, scheduler.dispatch, *(own(name) for name in OPTIONAL))


def split(schedulers: str | Known | Own | Sequence[str | Known | Own]) -> tuple[list[str], list[tuple[str, Any]]]:
    """The names, and your own with their names.

    Raises:
        TypeError: Something is neither a name nor makes a scheduler.
    """
    alone = isinstance(schedulers, str) or callable(schedulers)
    names, own = [], []
    for item in [schedulers] if alone else _checks.several("schedulers", schedulers, lambda _, one: one):
        if isinstance(item, str | Known):
            names.append(str(item))
        elif callable(item):
            name = getattr(item, "name", None)
            name = name if isinstance(name, str) else getattr(item, "__name__", "")
            own.append((name, lambda device, make=item: methods(make, device)))
        else:
            raise TypeError(f"schedulers are names, or classes of your own; this is neither: {item!r}")
    return names, own


@dataclass(frozen=True)
class Tunable:
    """A setting of a scheduler."""

    name: str
    default: str
    range: str
    unit: str
    doc: str


@dataclass(frozen=True)
class Known:
    """A scheduler that idlewise has. Called with tunables as keywords it gives the text that `compare` takes."""

    name: str
    summary: str
    source: str
    """Where its rules come from."""
    tunables: tuple[Tunable, ...]

    def __call__(self, **settings: Value | None) -> str:
        """The scheduler with these settings.

        Raises:
            ValueError: It has no such tunable. Whether a value fits `compare` says.
        """
        names = [tunable.name for tunable in self.tunables]
        settings = {name: value for name, value in settings.items() if value is not None}
        for name in settings:
            if name not in names:
                has = ", ".join(names) or "none"
                raise ValueError(f"{self.name} has no tunable '{name}' (it has: {has})")
        tuned = ";".join(f"{name}={value}" for name, value in shown(settings))
        return f"{self.name}:{tuned}" if tuned else self.name

    @property
    def entry_name(self) -> str:
        """The text that stands for it wherever a name is asked for."""
        return self.name

    def __str__(self) -> str:
        return self.name

    def page(self) -> str:
        """How it decides, and its tunables: what `idlewise docs NAME` prints."""
        return _native.command(["docs", self.name])[0]


class Catalogue(Mapping[str, Known]):
    """Schedulers by name."""

    def __init__(self, known: dict[str, Known]) -> None:
        self._known = known

    def __getitem__(self, name: str) -> Known:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def __repr__(self) -> str:
        width = max(map(len, self._known), default=0)
        return "\n".join(f"{known.name:{width}}  {known.summary}" for known in self._known.values())


def listed(what: str) -> list[dict[str, Any]]:
    """What `idlewise list WHAT` lists."""
    items: list[dict[str, Any]] = json.loads(_native.command(["list", what, "--json"])[0])["items"]
    return items


def known(row: dict[str, Any]) -> Known:
    """The scheduler of a row of the list."""
    tunables = tuple(Tunable(**option) for option in row["options"])
    return Known(row["name"], row["summary"], row["source"], tunables)


def schedulers() -> Catalogue:
    """All schedulers, then all selectors, by name.

    `schedulers()["deadline"](read_expire="100ms")` is the text that `compare` takes for one with settings.
    """
    rows = listed("schedulers") + listed("selectors")
    return Catalogue({row["name"]: known(row) for row in rows})
