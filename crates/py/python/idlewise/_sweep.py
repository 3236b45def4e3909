"""Sweeps: the product of traces, disks, schedulers and seeds, as a Parquet dataset."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from idlewise import _checks, _native
from idlewise._engines import Engine
from idlewise._engines import engine as engine_of
from idlewise._places import Cache, Folder, Storage, is_url, opened
from idlewise._scheduler import Known, split
from idlewise._table import needed
from idlewise._trace import Trace
from idlewise._words import PathLike, all_settings, text
from idlewise._words import options as known_options
from idlewise._work import Done, Surroundings, Unit, prepare, run

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Named = str | os.PathLike[str] | Mapping[str, Any]
"""A trace: its name, or a table with its `file` and how to read it."""

Told = Callable[[float, int], object]
"""Is told the share of the work that is done, and how many runs are; false as its answer ends the sweep early."""

GoesOn = Callable[[float, int], bool]
"""The same, and says whether the sweep goes on."""

CHUNKS = 8
"""Parts for each worker into which the work is cut, at least, so that all end at about the same time."""

TOLD = 5
"""Failures that a message has in full."""

LINE_EVERY = 10.0
"""Seconds between two lines about how far the sweep is."""


@dataclass(frozen=True)
class Sweep:
    """A sweep and its dataset.

    It is finished if `there` is `runs` and `failed` is empty; asking for the same again goes on with what is missing.
    """

    output: str
    """The folder of the dataset, or its URL."""
    plan: str
    """The product in words."""
    runs: int
    """Runs that the product has."""
    there: int
    """Runs whose results are in the dataset."""
    new: int
    """Those of them that were made by this call."""
    failed: list[tuple[str, str]]
    """Runs that failed, and why."""
    estimate: str | None
    """What the runs that are to do will cost, of a dry run."""
    seconds: float | None
    """The same on one core, in seconds."""
    _places: list[str] = field(repr=False)
    _storage: Storage = field(repr=False)

    def to_arrow(self) -> pyarrow.Table:
        """The results as a table of pyarrow: a row for each run of this sweep, in order of the plan.

        Other results that lie in the same folder are left out. Raises ImportError if there is no pyarrow.
        """
        strings, dataset = needed("pyarrow", "arrow").string(), needed("pyarrow.dataset", "arrow")
        files, base = (None, os.path.abspath(self.output))
        if is_url(self.output):
            files, base = opened(self.output, self._storage)
        folder = Folder(self.output, self._storage)
        there = None if self.there == self.runs else set(_present(folder))
        wanted = [place for place in self._places if there is None or _id(place) in there]
        parts = needed("pyarrow", "arrow").schema([("trace", strings), ("disk", strings)])
        table: pyarrow.Table = dataset.dataset(
            [f"{base}/{place}" for place in wanted],
            format="parquet",
            filesystem=files,
            partitioning=dataset.partitioning(parts, flavor="hive"),
            partition_base_dir=base,
        ).to_table()
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """The results as a data frame of pandas. Raises ImportError if pandas or pyarrow is not installed."""
        needed("pandas", "pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """The results as a data frame of polars. Raises ImportError if polars or pyarrow is not installed."""
        frame: polars.DataFrame = needed("polars", "polars").DataFrame(self.to_arrow())
        return frame

    def check(self) -> Sweep:
        """The sweep itself, unless a run failed.

        Raises:
            Error: Runs failed. The message has the first of them, and why; `failed` has all.
        """
        if not self.failed:
            return self
        told = [f"\n  {words}: {why}" for words, why in self.failed[:TOLD]]
        more = f"\n  and {len(self.failed) - TOLD} more" if len(self.failed) > TOLD else ""
        raise _native.Error(f"{len(self.failed)} of {self.runs} runs failed:{''.join(told)}{more}")

    def __str__(self) -> str:
        lines = [f"{self.plan}; {self.there} are in {self.output}, {self.new} of them new"]
        lines += [self.estimate] if self.estimate else []
        lines += [f"failed: {words}: {why}" for words, why in self.failed]
        return "\n".join(lines)


def sweep(
    file: PathLike | None = None,
    *,
    traces: Named | Sequence[Named] | None = (),
    workloads: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]] | None = (),
    fio: PathLike | Sequence[PathLike] | None = (),
    disks: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = (),
    schedulers: str | Known | Sequence[str | Known] | None = (),
    seeds: int | Sequence[int] | None = 1,
    output: PathLike | None = None,
    work: PathLike | None = None,
    options: Mapping[str, Any] | None = None,
    engine: str = "local",
    jobs: int | None = None,
    retries: int = 3,
    storage_options: Storage | None = None,
    cache: PathLike | None = None,
    cache_bytes: int = 50 * 10**9,
    dry_run: bool = False,
    progress: Told | None = None,
) -> Sweep:
    """Run the product of traces or workloads, disks, schedulers and seeds into a Parquet dataset.

    Each run is one file of one row, `trace=…/disk=…/ID.parquet` below `output`, whose name is a hash of all that
    decides the result. So a sweep that was ended or killed goes on when it is asked for again, and no result is
    there twice.
    A trace of several devices is split: each device has a disk of its own.

    Args:
        file: A TOML file that has all lists, as the program's `idlewise sweep` reads it; instead of the lists here.
        traces: Trace files, each a path or a `Trace`, which is read as it says, or URLs of fsspec such as
            `"s3://bucket/trace.csv.gz"`. One that wants more is a table:
            `{"file": …, "name": …, "format": …, "devices": […], "lenient": True}`.
        workloads: Named workloads, such as `"random:n=4"`.
        fio: Job files of fio.
        disks: Names of disks, or profile files.
        schedulers: Names, sets of them (`"linux"`), or names with settings (`"deadline:read_expire=100ms"`).
        seeds: How many seeds from 1 on, or the seeds.
        output: The folder of the dataset, or a URL.
        work: Where traces are split; `_work` below `output` unless given. Every worker must reach it.
        options: All other options of `compare`, by its keywords: `{"open_loop": True, "max_requests": 100_000}`.
        engine: `"local"`: threads of this process. `"ray"`: tasks on a Ray cluster (`pip install 'idlewise[ray]'`).
        jobs: Runs at a time; as many as there are cores unless given.
        retries: How often a part of the work is tried again when its worker dies, or a store does not answer.
        storage_options: What fsspec is told of the object store, such as `{"endpoint_url": …}`.
        cache: The folder in which workers keep what they fetch; `~/.cache/idlewise` unless given.
        cache_bytes: What may lie there on each machine; what is in use may be more.
        dry_run: Run only samples, and say what the sweep would cost.
        progress: Is told the share done and the runs done, whenever some are. False as its answer ends the sweep
            early. Without it, lines go to standard error.

    Returns:
        The sweep, whose results `to_arrow()` and `to_pandas()` give.

    Raises:
        ValueError: Something that was asked for is wrong. The message says what.
        TypeError: An argument is of another type than it takes; a scheduler of your own, which only `compare` runs.
        Error: A trace could not be read, or a result not be written.
        ImportError: Ray or fsspec is wanted and is not there.
        KeyboardInterrupt: Ctrl-C. What was done is in the dataset.

    Source: the program's `idlewise sweep`, which does the same on one machine.
    """
    asked = _asked(file, traces, workloads, fio, disks, schedulers, seeds, output, work, options)
    jobs = None if jobs is None else _checks.whole("jobs", jobs, 1)
    retries, cache_bytes = _checks.whole("retries", retries, 0), _checks.whole("cache_bytes", cache_bytes, 0)
    storage = dict(_checks.mapping("storage_options", storage_options))
    goes_on = _checks.progress(progress)
    sources = json.loads(_native.sweep_sources(json.dumps(asked)))
    target = str(asked["output"])
    place = str(asked.get("work") or f"{target.rstrip('/')}/_work")
    kept = _checks.path("cache", cache) if cache else os.path.join(_cache_home(), "idlewise")
    where = Surroundings(
        Folder(target, storage), Folder(place, storage), Cache(kept, cache_bytes), storage, os.getcwd()
    )
    drive = _Driver(where, json.dumps(asked), sources, goes_on)
    if _checks.flag("dry_run", dry_run):
        return drive.told(jobs or len(os.sched_getaffinity(0)))
    return drive.done(lambda: engine_of(engine, jobs, retries))


def _cache_home() -> str:
    return os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")


def _asked(
    file: Any,
    traces: Any,
    workloads: Any,
    fio: Any,
    disks: Any,
    schedulers: Any,
    seeds: Any,
    output: Any,
    work: Any,
    options: Any,
) -> dict[str, Any]:
    """What is asked for, as the program's files have it."""
    names, own = split(() if schedulers is None else schedulers)
    if own:
        name = own[0][0]
        raise TypeError(f"schedulers: {name} is a scheduler of your own, which a sweep does not run: compare() does")
    lists: dict[str, Any] = {
        "traces": _checks.several("traces", traces, _trace),
        "workloads": _checks.several("workloads", workloads, _checks.words),
        "fio": _checks.several("fio", fio, _checks.path),
        "disks": _checks.several("disks", disks, _checks.path),
        "schedulers": names,
        "options": _options(_checks.mapping("options", options)),
    }
    listed = _checks.seeds(seeds)
    if file is not None:
        if any(lists.values()) or listed != [1] or output or work:
            raise ValueError("give a file, or lists and output: a file has all of them")
        found: dict[str, Any] = json.loads(_native.sweep_file(_checks.path("file", file)))
        return found
    if output is None:
        raise ValueError("output: name a folder for the results, or a URL")
    places = {"output": _checks.path("output", output)} | ({"work": _checks.path("work", work)} if work else {})
    return places | lists | {"seeds": listed}


def _trace(name: str, trace: Any) -> str | dict[str, Any]:
    table = trace if isinstance(trace, Mapping) else {"file": trace}
    file = table.get("file")
    reading = {key: value for key, value in file.reading().items() if value} if isinstance(file, Trace) else {}
    if table is not trace and not reading:
        return _checks.path(name, trace)
    place = {"file": _checks.path("file of a trace", file)} if "file" in table else {}
    return {**reading, **table, **place}


def _options(values: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the program's files have them: of `compare` by keyword, and by the names that the program has."""
    found: dict[str, Any] = {}
    weights = all_settings(values.get("settings_of"), values.get("weights"))
    if weights:
        found["set"] = weights
    known = known_options()
    by_name = {option.name: option for option in known.values()}
    for name, value in values.items():
        if value is None or name in ("settings_of", "weights"):
            continue
        option = known.get(name) or by_name.get(name.replace("_", "-"))
        if option is None:
            found[name.replace("_", "-")] = value if isinstance(value, bool) else text(value, f"options: {name}")
        elif option.takes == "flag" and name.replace("_", "-") == option.name:
            found[option.name] = _checks.flag(f"options: {name}", value)
        else:
            found[option.name] = option.values(value, f"options: {name}")
    return found


def _present(output: Folder) -> Iterator[str]:
    """The ids of the results that lie in the dataset."""
    if output.is_local:
        yield from _native.sweep_present(output.name)
    else:
        yield from (_id(name) for name in output.names(".parquet"))


def _id(place: str) -> str:
    return place.rsplit("/", 1)[-1].removesuffix(".parquet")


def _weights(units: Sequence[Unit]) -> list[int]:
    """How much of the work each run is: requests, where they are known."""
    known = [unit["rows"] for unit in units if unit["rows"] is not None]
    usual = sum(known) // len(known) if known else 1
    return [max(1, usual if unit["rows"] is None else unit["rows"]) for unit in units]


def _chunks(units: Sequence[Unit], workers: int) -> list[tuple[int, list[Unit]]]:
    """The units in parts, each of one load, with the weight of each part; the heaviest first."""
    weights = _weights(units)
    most = max(1, sum(weights) // (workers * CHUNKS))
    parts: list[tuple[int, list[Unit]]] = []
    for unit, weight in zip(units, weights, strict=True):
        same = parts and parts[-1][1][0]["load"] == unit["load"]
        if same and parts[-1][0] + weight <= most:
            parts[-1] = (parts[-1][0] + weight, [*parts[-1][1], unit])
        else:
            parts.append((weight, [unit]))
    return sorted(parts, key=lambda part: -part[0])


class _Driver:
    """Plans a sweep, deals its runs out, and counts what comes back."""

    def __init__(self, where: Surroundings, asked: str, sources: list[dict[str, Any]], progress: GoesOn | None) -> None:
        self._where = where
        self._asked = asked
        self._sources = sources
        self._progress = progress
        self._began = time.monotonic()
        self._line_at = self._began + LINE_EVERY

    def _plan(self, portions: list[str]) -> dict[str, Any]:
        for source, known in zip(self._sources, portions, strict=True):
            for warning in json.loads(known)["warnings"]:
                print(f"warning: {source['name'] or source['file']}: {warning}", file=sys.stderr)
        plan: dict[str, Any] = json.loads(_native.sweep_plan(self._asked, portions, self._where.work.name))
        return plan

    def _left(self, plan: Mapping[str, Any]) -> list[Unit]:
        there = set(_present(self._where.output))
        return [unit for unit in plan["units"] if unit["id"] not in there]

    def _result(self, plan: Mapping[str, Any], left: int, done: Done, cost: Mapping[str, Any]) -> Sweep:
        units = plan["units"]
        # Counted there: a worker that died had written some, and another driver may be at the same sweep.
        there = len(units) - len(self._left(plan))
        return Sweep(
            output=self._where.output.name,
            plan=plan["words"],
            runs=len(units),
            there=there,
            new=there - (len(units) - left),
            failed=sorted(done.failed),
            estimate=cost.get("text"),
            seconds=cost.get("seconds"),
            _places=[unit["place"] for unit in units],
            _storage=self._where.storage,
        )

    def told(self, jobs: int) -> Sweep:
        """What the sweep would cost, from samples on this machine."""
        portions = [prepare(self._where, self._asked, source, False) for source in self._sources]
        plan = self._plan(portions)
        left = self._left(plan)
        with ExitStack() as stack:
            files: dict[str, str] = {}
            for unit in left:
                trace = unit["load"].get("trace")
                if trace is not None and is_url(trace["source"]):
                    source = trace["source"]
                    if source not in files:
                        fetched = self._where.cache.fetched(source, self._where.storage)
                        files[source] = os.fspath(stack.enter_context(fetched))
                    trace["source"] = files[source]
            cost = json.loads(_native.sweep_estimate(json.dumps(left), jobs)) if left else {}
        return self._result(plan, len(left), Done(0, []), cost)

    def done(self, begin: Callable[[], Engine]) -> Sweep:
        """Carry out what is not done yet."""
        workers = begin()
        stopped = True
        try:
            calls = [(self._where, self._asked, source, True) for source in self._sources]
            numbered = workers.each(_numbered, [(number, *call) for number, call in enumerate(calls)])
            plan = self._plan([portions for _, portions in sorted(numbered)])
            left = self._left(plan)
            chunks = _chunks(left, workers.workers)
            all_weight = sum(weight for weight, _ in chunks)
            calls_of_runs = [(weight, self._where, units) for weight, units in chunks]
            total, weight_done = Done(0, []), 0
            for weight, one in workers.each(_weighed, calls_of_runs):
                total = Done(total.units + one.units, total.failed + one.failed)
                weight_done += weight
                if not self._tell(weight_done / max(1, all_weight), total.units, len(left)):
                    break
            else:
                stopped = False
        finally:
            workers.close(stopped)
        return self._result(plan, len(left), total, {})

    def _tell(self, share: float, runs: int, of: int) -> bool:
        """Tell how far the sweep is; whether it goes on."""
        if self._progress is not None:
            return self._progress(share, runs)
        now = time.monotonic()
        if now >= self._line_at:
            self._line_at = now + LINE_EVERY
            left = (now - self._began) * (1 - share) / share
            print(f"{share:.0%} done, {runs} of {of} runs, about {left:.0f} s left", file=sys.stderr)
        return True


def _numbered(number: int, *arguments: Any) -> tuple[int, str]:
    """`prepare`, with the place of its trace among others."""
    return number, prepare(*arguments)


def _weighed(weight: int, *arguments: Any) -> tuple[int, Done]:
    """`run`, with the weight of its part."""
    return weight, run(*arguments)
