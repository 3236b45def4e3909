"""The half of the package that is in Rust."""

from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any, Literal, final

__all__ = [
    "Batches",
    "Comparison",
    "Device",
    "Error",
    "Request",
    "Table",
    "WaitUntil",
    "__version__",
    "command",
    "compare",
    "options",
    "sweep_estimate",
    "sweep_file",
    "sweep_plan",
    "sweep_portions",
    "sweep_present",
    "sweep_run",
    "sweep_sources",
    "sweep_write",
]

__version__: str

class Error(RuntimeError):
    """The work failed: a file could not be read, or a run broke off."""

def command(words: Sequence[str], progress: Callable[[float, int], object] | None = None) -> tuple[str, str]:
    """Carry out a command of the program; gives what it prints, and its messages."""

def compare(
    words: Sequence[str],
    own: Sequence[tuple[str, Callable[[Device], tuple[Any, ...]]]],
    progress: Callable[[float, int], object] | None = None,
) -> Comparison:
    """Compare schedulers as the command `compare` does with these words behind it."""

def options() -> list[tuple[str, str, str, bool]]:
    """The options of `compare`: name, keyword, what it takes, and whether it takes several."""

def sweep_file(path: str) -> str:
    """What a TOML file asks for, as JSON."""

def sweep_sources(sweep: str) -> str:
    """The traces of a sweep, once all else is checked."""

def sweep_portions(
    sweep: str, source: str, work: str, cut: bool, progress: Callable[[float, int], object] | None = None
) -> str:
    """What is known of a trace, which is split by device if `cut`."""

def sweep_plan(sweep: str, portions: Sequence[str], work: str) -> str:
    """The units of a sweep."""

def sweep_run(unit: str, progress: Callable[[float, int], object] | None = None) -> bytes | None:
    """The content of a unit's result; None if it was stopped."""

def sweep_write(output: str, unit: str, content: bytes) -> None:
    """Write a unit's result into a dataset in a folder."""

def sweep_present(output: str) -> list[str]:
    """The ids of the results in a folder."""

def sweep_estimate(units: str, jobs: int) -> str:
    """What units would cost."""

@final
class Comparison:
    """A finished comparison."""

    @property
    def verdict(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def messages(self) -> str: ...
    @property
    def interrupted(self) -> bool: ...
    def summary(self) -> Table: ...
    def runs(self) -> Table: ...
    def processes(self) -> Table: ...
    def text(self) -> str: ...
    def html(self) -> str: ...
    def csv(self) -> str: ...
    def json(self) -> str: ...

@final
class Request:
    """A request of the queue. Merging may make it longer while it waits."""

    @property
    def number(self) -> int:
        """Counts requests of a run in order of arrival, from 0."""

    @property
    def arrival(self) -> int:
        """When it reached the queue, in nanoseconds of the run."""

    @property
    def start(self) -> int:
        """Its first sector."""

    @property
    def sectors(self) -> int:
        """Its length in sectors of 512 bytes; zero only for a flush."""

    @property
    def end(self) -> int:
        """The sector after its last one."""

    @property
    def operation(self) -> Literal["read", "write", "discard", "flush"]:
        """What it asks for."""

    @property
    def is_read(self) -> bool:
        """It is a read."""

    @property
    def synchronous(self) -> bool:
        """Somebody waits for it: every read, and some writes."""

    @property
    def issuer(self) -> int:
        """The process that issued it."""

    @property
    def group(self) -> int:
        """What the process belongs to, such as the one that started it; 0 if that is unknown."""

@final
class WaitUntil:
    """The answer of a scheduler that lets the disk wait although requests do."""

    def __new__(cls, time: int) -> WaitUntil: ...
    @property
    def time(self) -> int:
        """When the scheduler wants to be asked again, in nanoseconds of the run; it is also asked after any event."""

@final
class Device:
    """What a scheduler may know of the device below it."""

    @property
    def sectors(self) -> int:
        """Sectors of 512 bytes."""

    @property
    def depth(self) -> int:
        """Commands that it takes at once."""

    @property
    def rotational(self) -> bool:
        """Distance costs time."""

    @property
    def queue_size(self) -> int:
        """Requests that the queue holds at once, waiting or at the disk."""

@final
class Batches:
    """The rows of a trace, from its beginning, in batches."""

    def __new__(
        cls,
        path: str | PathLike[str],
        format: str | None,
        devices: Sequence[str],
        lenient: bool,
        rows: int,
    ) -> Batches: ...
    @property
    def failure(self) -> str | None: ...
    def __iter__(self) -> Iterator[Table]: ...
    def __next__(self) -> Table: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Table:
    """A table in memory that is Arrow's."""

    @staticmethod
    def from_arrow(source: object) -> Table: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...
    def columns(self) -> list[tuple[str, str, str]]: ...
    def values(self, name: str) -> list[Any]: ...
