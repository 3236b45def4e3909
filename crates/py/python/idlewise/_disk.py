"""Disks: models of them, made, looked at, and held against measurements."""

from __future__ import annotations

import copy
import html
import json
from pathlib import Path
from typing import Any

from idlewise import _checks, _native
from idlewise._scheduler import listed
from idlewise._trace import Trace
from idlewise._words import PathLike, shown


class Disk:
    """A model of a disk: one that idlewise has, or one of a profile file. `compare` takes it as `disk`."""

    def __init__(self, name: PathLike, **options: str | int | bool | None) -> None:
        """Name a disk.

        Args:
            name: A name that `disks()` lists, an array of such (`"raid5:n=5,of=maxtor-40g"`), or a profile file.
            options: What is to be otherwise: `depth=32`, `cache=False`, `write_cache=False`, `capacity="2t"`.

        Raises:
            ValueError: There is no such disk or option.
            Error: The profile file cannot be read.
        """
        own = ",".join(f"{key.replace('_', '-')}={value}" for key, value in shown(options))
        base = _checks.path("name", name)
        self.name = f"{base}:{own}" if own else base
        self._document: dict[str, Any] | None = None
        self.report: dict[str, Any] | None = None
        """What the fit that made it says: what is known, from what, and how far the model is off."""
        self.profile()

    def profile(self) -> dict[str, Any]:
        """The disk's figures: capacity in bytes, times in nanoseconds, zones, source.

        Source: the program's `idlewise disk show --json`.
        """
        if self._document is None:
            self._document = json.loads(_native.command(["disk", "show", self.name, "--json"])[0])
        return copy.deepcopy(self._document)

    def show(self) -> str:
        """The disk's figures, its seek curve and its zones as a page of text."""
        return _native.command(["disk", "show", self.name])[0]

    def validate(self, trace: PathLike) -> dict[str, Any]:
        """Replay a real drive's measured trace, and say how far the model is off.

        Args:
            trace: Lines of `R|W Hit|Miss start blocks service-µs think-µs`.

        Returns:
            Among others `demerit_ns`, the root mean square of the distance between the two distributions of response
            times, and `demerit_share`, that of the measured mean.

        Raises:
            Error: The file cannot be read, or is no such trace.
        """
        words = ["disk", "validate", self.name, _checks.path("trace", trace), "--json"]
        document: dict[str, Any] = json.loads(_native.command(words)[0])
        return document

    @classmethod
    def fit(
        cls,
        trace: PathLike | Trace,
        output: PathLike,
        *,
        capacity: int | None = None,
        force: bool = False,
    ) -> Disk:
        """Make a model of the disk on which a trace with service times was recorded; the disk is not touched.

        Args:
            trace: The recording, of one disk.
            output: The profile file to write, whose name ends in .toml.
            capacity: Sectors of the disk; the last one of the recording unless the recording or this says otherwise.
            force: Replace a file that exists.

        Returns:
            The disk. Its `report` says what is known of it, and how far the model is off on rows that it was not
            fitted to.

        Raises:
            ValueError: The name of the file ends otherwise, or the trace is of several disks.
            Error: The trace does not show enough, or the file exists.
        """
        own = trace.words() if isinstance(trace, Trace) else []
        file = _checks.path("output", output)
        words = ["disk", "fit", _checks.path("trace", trace), "--json", f"--output={file}", *own]
        if Path(file).suffix != ".toml":
            raise ValueError(f"{file}: the name of a profile ends in .toml")
        if capacity is not None:
            words.append(f"--capacity={_checks.whole('capacity', capacity, 1)}")
        if _checks.flag("force", force):
            words.append("--force")
        printed, _ = _native.command(words)
        disk = cls(output)
        disk.report = json.loads(printed)["report"]
        return disk

    def __fspath__(self) -> str:
        return self.name

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<idlewise.Disk {self.name}: {self.profile()['description']}>"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self.show())}</pre>"


def disks() -> dict[str, str]:
    """The disks that idlewise has, and what each is."""
    return {row["name"]: row["summary"] for row in listed("disks")}


def workloads() -> dict[str, dict[str, Any]]:
    """The workloads that idlewise has: for each `summary`, and `options` with default and meaning."""
    return {row["name"]: row for row in listed("workloads")}
