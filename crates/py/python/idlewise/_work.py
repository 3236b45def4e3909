"""What the workers of a sweep do: get a trace ready, and carry runs out. The same in threads and on a cluster."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idlewise import _native
from idlewise._places import Cache, Folder, Storage, is_url, opened, short

Unit = dict[str, Any]
"""One run, as the plan has it."""

Stop = Callable[[float, int], object]
"""Is asked now and then; false as its answer ends the work."""


@dataclass(frozen=True)
class Surroundings:
    """Where a sweep reads and writes."""

    output: Folder
    work: Folder
    cache: Cache
    storage: Storage
    folder: str
    """The folder from which relative names count."""

    def enter(self) -> None:
        """Let relative names count from where the sweep was asked for, on a worker that has that folder."""
        if os.path.isdir(self.folder) and os.getcwd() != self.folder:
            os.chdir(self.folder)


@dataclass(frozen=True)
class Done:
    """What came of some runs."""

    units: int
    """Runs that are over: those that were done before, too."""
    failed: list[tuple[str, str]]
    """Runs that failed, and why."""


def prepare(where: Surroundings, sweep: str, source: Mapping[str, Any], cut: bool, stop: Stop | None = None) -> str:
    """What is known of a trace. With `cut` one of several devices is split, each device into a file of its own.

    What was found is kept in the work folder; what is in an object store is complete once `known/` tells of it.
    """
    where.enter()
    file = str(source["file"])
    if not is_url(file) and where.work.is_local:
        return _native.sweep_portions(sweep, json.dumps(source), where.work.name, cut, stop)
    known = f"known/{short(json.dumps([_stamp(file, where.storage), sweep_options(sweep), source, cut]))}.json"
    found = None if where.work.is_local else where.work.read(known)
    if found is not None:
        return found.decode()
    with where.cache.fetched(file, where.storage) as local:
        own = json.dumps({**source, "file": os.fspath(local)})
        if where.work.is_local:
            return _native.sweep_portions(sweep, own, where.work.name, cut, stop)
        os.makedirs(where.cache.folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=where.cache.folder, prefix=".split-") as folder:
            portions = _native.sweep_portions(sweep, own, folder, cut, stop)
            if cut:
                for portion in json.loads(portions)["devices"]:
                    if portion["file"] is not None and portion["rows"] > 0:
                        where.work.send(Path(folder, portion["file"]), portion["file"])
            where.work.put(known, portions.encode())
    return portions


def sweep_options(sweep: str) -> Any:
    """The options of a sweep, of which some decide how traces are read."""
    return json.loads(sweep).get("options", {})


def _stamp(file: str, storage: Storage) -> list[str]:
    """What tells whether a trace has changed."""
    if is_url(file):
        files, path = opened(file, storage)
        files.invalidate_cache()
        return [file, str(files.ukey(path))]
    found = os.stat(file)
    return [os.path.realpath(file), str(found.st_size), str(found.st_mtime_ns)]


def run(where: Surroundings, units: list[Unit], stop: Stop | None = None) -> Done:
    """Carry out the runs whose results are not there yet, and write each result when it is there.

    A run that fails would fail again, so that it is told and hinders no other. What else goes wrong, such as a store
    that does not answer, is raised, and may be tried again.
    """
    where.enter()
    failed: list[tuple[str, str]] = []
    for unit in units:
        if where.output.has_result(unit["place"]):
            continue
        try:
            content = carried_out(where, unit, stop)
        except (ValueError, _native.Error) as error:
            failed.append((described(unit), str(error)))
            continue
        if content is None:
            break
        write(where.output, unit, content)
    return Done(len(units), failed)


def carried_out(where: Surroundings, unit: Unit, stop: Stop | None) -> bytes | None:
    """The content of a unit's result; None if it was stopped."""
    trace = unit["load"].get("trace") if isinstance(unit["load"], dict) else None
    if trace is None:
        return _native.sweep_run(json.dumps(unit), stop)
    which = "source" if trace["own"] is None else "own"
    with where.cache.fetched(trace[which], where.storage) as file:
        near = {**unit, "load": {"trace": {**trace, which: os.fspath(file)}}}
        return _native.sweep_run(json.dumps(near), stop)


def write(output: Folder, unit: Unit, content: bytes) -> None:
    """Write a result, whole or not at all, over an earlier one."""
    if output.is_local:
        _native.sweep_write(output.name, json.dumps(unit), content)
    else:
        output.put(unit["place"], content)


def described(unit: Unit) -> str:
    """A run in words."""
    return f"{unit['trace']} on {unit['disk']} under {unit['scheduler']}, seed {unit['seed']}"
