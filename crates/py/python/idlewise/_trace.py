"""Traces: what a disk was asked to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idlewise import _checks, _native
from idlewise._table import Table, needed
from idlewise._words import PathLike, given

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

BATCH = 65_536
"""Rows in a batch unless another number is given."""


class Trace:
    """A trace file, read when its rows are asked for.

    It is itself a stream of Arrow's: `polars.DataFrame(trace)` and `pyarrow.RecordBatchReader.from_stream(trace)` read
    it, the second without ever holding all of it.
    """

    def __init__(
        self,
        path: PathLike,
        *,
        format: str | None = None,
        devices: str | Sequence[str] | None = None,
        lenient: bool = False,
    ) -> None:
        """Name a trace. It is opened to find its format, and closed again.

        Args:
            path: The file, compressed or not, or the common prefix of blktrace's files.
            format: The format, if the content is ambiguous; `idlewise list formats` names them.
            devices: Only these devices or volumes.
            lenient: Skip rows that cannot be read, and count them.

        Raises:
            ValueError: There is no such format.
            Error: The file is not there, or is no trace.
        """
        self.path = Path(_checks.path("path", path))
        self.format = None if format is None else _checks.words("format", format)
        self.devices = _checks.several("devices", devices, _checks.words)
        self.lenient = _checks.flag("lenient", lenient)
        self._open(1)

    @classmethod
    def open(
        cls,
        path: PathLike,
        *,
        format: str | None = None,
        devices: str | Sequence[str] | None = None,
        lenient: bool = False,
    ) -> Trace:
        """The same as `Trace(path, …)`."""
        return cls(path, format=format, devices=devices, lenient=lenient)

    def _open(self, rows: int) -> _native.Batches:
        return _native.Batches(self.path, self.format, self.devices, self.lenient, rows)

    def words(self) -> list[str]:
        """How a command line reads the trace."""
        return given(self.reading())

    def reading(self) -> dict[str, Any]:
        """How it is read, as `compare` has the keywords."""
        return {"format": self.format, "devices": self.devices, "lenient": self.lenient}

    def info(self, *, period: str = "1s") -> dict[str, Any]:
        """What the trace holds and what it lacks, from reading it once.

        Args:
            period: How long the periods are by which kinds of load are told, such as `"500ms"`.

        Raises:
            ValueError: `period` is no time.
            Error: The trace cannot be read to its end.

        Source: the program's `idlewise trace info --json`.
        """
        words = [
            "trace",
            "info",
            os.fspath(self.path),
            "--json",
            f"--period={_checks.time('period', period)}",
            *self.words(),
        ]
        document: dict[str, Any] = json.loads(_native.command(words)[0])
        return document

    def convert(self, output: PathLike, *, to: str = "idlewise", force: bool = False) -> Trace:
        """Write the trace in another format; gives what was written.

        Args:
            output: The file to write, compressed if its name ends in .gz, .bz2, .xz or .zst.
            to: The format.
            force: Replace a file that exists.

        Raises:
            ValueError: There is no such format, or it cannot be written.
            Error: The file exists, or cannot be written.
        """
        file = _checks.path("output", output)
        words = ["trace", "convert", os.fspath(self.path), file, f"--to={_checks.words('to', to)}"]
        if _checks.flag("force", force):
            words.append("--force")
        _native.command([*words, *self.words()])
        return Trace(output, format=to)

    def batches(self, rows: int = BATCH) -> Iterator[Table]:
        """The rows from the beginning, in tables of at most `rows`: memory does not grow with the trace.

        Raises:
            ValueError: `rows` is not 1 or more, or more than can be counted.
            Error: A row cannot be read. The rows before it were given.
        """
        return map(Table, self._open(_checks.rows(rows)))

    def __iter__(self) -> Iterator[Table]:
        return self.batches()

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a table of pyarrow. Raises ImportError if there is no pyarrow, Error if a row cannot be read."""
        table: pyarrow.Table = self._read(needed("pyarrow", "arrow").table)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a data frame of pandas. Raises as `to_arrow` does, and ImportError if there is no pandas."""
        needed("pandas", "pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """All rows as a data frame of polars. Raises as `to_arrow` does, and ImportError if there is no polars."""
        frame: polars.DataFrame = self._read(needed("polars", "polars").DataFrame)
        return frame

    def _read(self, take: Callable[[Any], Any]) -> Any:
        """What a library takes of the rows; its error is ours if a row cannot be read."""
        batches = self._open(BATCH)
        try:
            return take(batches)
        except Exception as error:
            if batches.failure is None:
                raise
            raise _native.Error(batches.failure) from error

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows from the beginning, as a stream of Arrow's that reads them as they are wanted."""
        return self._open(BATCH).__arrow_c_stream__(requested_schema)

    def __fspath__(self) -> str:
        return os.fspath(self.path)

    def __repr__(self) -> str:
        return f"<idlewise.Trace: {self.path}>"
