"""Comparing schedulers on the same load."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from idlewise import _checks, _native
from idlewise._scheduler import Known, Own, split
from idlewise._table import Table
from idlewise._trace import Trace
from idlewise._words import PathLike, Value, all_settings, given, options, runs

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from matplotlib.axes import Axes

Progress: TypeAlias = Callable[[float, int], object]
"""Is told the share that is done, from 0 to 1, and the requests that are; false as its answer ends the runs early."""

APART = ("plots", "schedulers", "seeds", "settings_of")
"""Keywords that are not words of the command line as they are. All others are options of `idlewise compare`."""

DEFAULT = ("linux", "all")
"""The schedulers, unless others are named."""


def compare(
    *,
    trace: PathLike | None = None,
    workload: str | Mapping[str, Any] | None = None,
    fio: PathLike | None = None,
    disk: str | os.PathLike[str] | None = None,
    schedulers: str | Known | Own | Sequence[str | Known | Own] | None = DEFAULT,
    seeds: int | Sequence[int] | None = 1,
    goal: str | None = None,
    format: str | None = None,
    devices: str | Sequence[str] | None = None,
    lenient: bool | None = None,
    open_loop: bool | None = None,
    one_process: bool | None = None,
    one_disk: bool | None = None,
    speed: float | None = None,
    settings_of: Mapping[str, Mapping[str, Value]] | None = None,
    weights: Mapping[int, int] | None = None,
    calibrated: bool | None = None,
    candidates: str | Known | Sequence[str | Known] | None = None,
    matrix: PathLike | None = None,
    ranking: PathLike | None = None,
    switching: str | None = None,
    model: PathLike | None = None,
    queue_size: int | None = None,
    hardware_queues: int | None = None,
    merges: bool | None = None,
    max_requests: int | None = None,
    duration: str | timedelta | None = None,
    plots: bool | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Run several schedulers on the same load and say which is best.

    One of `trace`, `workload` and `fio` says what the disk is asked to do. The work is done on all processors, and
    other threads of Python run meanwhile. Ctrl-C ends it. None as a value of an argument means that it is not given.

    Args:
        trace: A trace: a `Trace`, a file, or the common prefix of blktrace's files.
        workload: A named workload, such as `"sync-streams:n=4,bs=64k"`.
        fio: A job file of fio.
        disk: A disk's name with options (`"maxtor-40g:cache=off"`) or a profile file. Without one, workloads run on
            `hdd-18tb-7200`, and a trace on the disk that its latencies and addresses fit.
        schedulers: Names, sets of them (`"linux"`, `"all"`, `"auto"`, a family), one with settings
            (`"deadline:read_expire=100ms"`), and your own: classes such as `Scheduler` describes. If the set `"linux"`
            is among them, the verdict is about that.
        seeds: How many runs each scheduler has, or their seeds, which follow one another. Several give confidence
            intervals.
        goal: What the verdict goes by: `"throughput"`, `"latency"`, or `"balanced"`, which is both, unless given.
        format: The trace's format, if its content is ambiguous.
        devices: Only these devices of the trace.
        lenient: Skip rows of the trace that cannot be read, and count them.
        open_loop: Replay at the recorded times, whatever the disk does.
        one_process: Take requests of which the trace tells no issuer for one process's; otherwise each stream of
            neighbouring requests is taken for a process.
        one_disk: Replay all devices of the trace on one disk.
        speed: Replay this much faster.
        settings_of: Tunables by scheduler: `{"deadline": {"read_expire": "100ms"}}`.
        weights: Weights of processes by their number, 1 to 10000; 100 is what they have.
        calibrated: The disk's model tells schedulers its positioning times, unless this is False: they learn them.
        candidates: The schedulers among which selectors (`auto-…`) choose.
        matrix: A decision matrix for `auto-matrix`, a file that `idlewise matrix build` wrote.
        ranking: A ranking for `auto-ranking`, a file that `idlewise ranking build` wrote; otherwise one is measured.
        switching: How selectors switch: `"carry"`, unless given: with the requests; `"drain"` or `"freeze"` first.
        model: The disk that `auto-predict` simulates, if it is not the disk itself.
        queue_size: Requests that the queue holds at once; 4096 unless given.
        hardware_queues: Hardware queues of the disk, which share its depth.
        merges: Neighbouring requests are merged, unless this is False.
        max_requests: Stop issuing after this many requests.
        duration: Stop issuing after this much simulated time, such as `"30s"`.
        plots: Keep what the page of `html()` plots over time; a few percent slower.
        progress: Is told the share done and the requests done about 20 times a second. False as its answer ends the
            runs early: the result is then of what was done. What a scheduler of your own holds then is served in order
            of arrival.

    Returns:
        What came of it.

    Raises:
        ValueError: Something that was asked for is wrong. The message says what, and what there is instead.
        TypeError: An argument is of another type than it takes.
        Error: A file could not be read, or a run broke off.
        Exception: Whatever a scheduler of your own raised.
        KeyboardInterrupt: Ctrl-C.

    Source: the program's `idlewise compare`, which does the same.
    """
    asked = {keyword: value for keyword, value in locals().items() if keyword in options() and keyword not in APART}
    named, own = split(DEFAULT if schedulers is None else schedulers)
    if trace is not None and isinstance(trace, Trace):
        asked |= {key: value for key, value in trace.reading().items() if asked[key] is None}
    words = [
        *given(asked),
        f"--schedulers={','.join(named)}",
        *runs(seeds),
        *(f"--set={setting}" for setting in all_settings(settings_of, weights)),
        *(["--html=report.html"] if plots is not None and _checks.flag("plots", plots) else []),
    ]
    return Comparison(_native.compare(words, own, _checks.progress(progress)))


class Comparison:
    """A finished comparison: tables of figures, and the verdict.

    It is a table itself, with a row for each scheduler, for any library that knows Arrow.
    """

    def __init__(self, native: _native.Comparison) -> None:
        self._native = native

    @property
    def verdict(self) -> str:
        """Which scheduler is best for what, and whether the difference matters, in sentences."""
        return self._native.verdict

    @property
    def claims(self) -> list[dict[str, Any]]:
        """What the verdict says, one by one, for programs."""
        claims: list[dict[str, Any]] = self.json()["claims"]
        return claims

    @property
    def title(self) -> str:
        """What was compared."""
        return self._native.title

    @property
    def command(self) -> str | None:
        """The command line that gives the same numbers; None if schedulers of your own took part."""
        command: str | None = self.json()["command"]
        return command

    @property
    def notes(self) -> list[str]:
        """What one should know of the load and of how the runs went."""
        return self._native.messages.splitlines()

    @property
    def interrupted(self) -> bool:
        """The runs were ended before all were done."""
        return self._native.interrupted

    @property
    def summary(self) -> Table:
        """A row for each scheduler: means over its runs.

        Of several runs a column that ends in `_ci95` has half the 95 % confidence interval.
        """
        return Table(self._native.summary())

    @property
    def runs(self) -> Table:
        """A row for each run: scheduler, seed, and all figures."""
        return Table(self._native.runs())

    @property
    def processes(self) -> Table:
        """A row for each process under each scheduler."""
        return Table(self._native.processes())

    @property
    def schedulers(self) -> list[str]:
        """The schedulers that took part."""
        return [str(result["scheduler"]) for result in self.json()["results"]]

    def __getitem__(self, scheduler: str) -> dict[str, Any]:
        """The figures of a scheduler: its row of the summary.

        Raises:
            KeyError: It did not take part.
        """
        if scheduler not in self.schedulers:
            raise KeyError(f"no scheduler {scheduler!r} took part (there are: {', '.join(self.schedulers)})")
        table, row = self.summary, self.schedulers.index(scheduler)
        return {name: table.values(name)[row] for name in table.columns}

    def __iter__(self) -> Iterator[str]:
        """The schedulers, as `schedulers` has them."""
        return iter(self.schedulers)

    def __len__(self) -> int:
        """How many schedulers took part."""
        return len(self.schedulers)

    def __contains__(self, scheduler: object) -> bool:
        """Whether the scheduler took part."""
        return scheduler in self.schedulers

    def to_arrow(self) -> pyarrow.Table:
        """The summary as a table of pyarrow, without a copy. Raises ImportError if there is no pyarrow."""
        return self.summary.to_arrow()

    def to_pandas(self) -> pandas.DataFrame:
        """The summary as a data frame of pandas. Raises ImportError if pandas or pyarrow is not installed."""
        return self.summary.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """The summary as a data frame of polars. Raises ImportError if there is no polars."""
        return self.summary.to_polars()

    def plot(self, figure: str = "throughput_bytes_per_s", *, axes: Axes | None = None) -> Axes:
        """Draw a figure of every scheduler as bars, the greatest at the top, with its 95 % confidence intervals.

        Schedulers of which it was not measured come last, without a bar.

        Args:
            figure: A column of the summary.
            axes: Where to draw; otherwise into a new figure of matplotlib.

        Raises:
            ValueError: There is no such column, or it is not of numbers.
            ImportError: matplotlib is not installed.
        """
        from idlewise._plot import bars

        return bars(self.summary, figure, self.title, axes)

    def json(self) -> dict[str, Any]:
        """All of it, as `idlewise compare --json` prints it. `docs/schema` has its schema."""
        document: dict[str, Any] = json.loads(self._native.json())
        return document

    def html(self) -> str:
        """The page that `idlewise compare --html` writes; its plots are there if `compare` was asked for `plots`."""
        return self._native.html()

    def save(self, path: PathLike) -> Path:
        """Write all of it to a file: a page (`.html`), `.json` or `.csv`. A file of that name is replaced.

        Raises:
            ValueError: The name ends otherwise.
            OSError: The file cannot be written.
        """
        path = Path(path)
        kinds = {".html": self._native.html, ".json": self._native.json, ".csv": self._native.csv}
        if path.suffix not in kinds:
            raise ValueError(f"{path}: a name that ends in {', '.join(kinds)} says what to write")
        path.write_text(kinds[path.suffix](), encoding="utf-8")
        return path

    def __arrow_c_schema__(self) -> object:
        """The schema of the summary, as Arrow's PyCapsule interface has it."""
        return self.summary.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The summary, as Arrow's PyCapsule interface has it."""
        return self.summary.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a comparison cannot be pickled: send what json() or to_pandas() gives")

    def __str__(self) -> str:
        return self._native.text()

    def __repr__(self) -> str:
        return f"<idlewise.Comparison: {self.title}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"
