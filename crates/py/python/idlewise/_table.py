"""Tables: Arrow's, handed to whatever library somebody has, without a copy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NoReturn

from idlewise import _native

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


def needed(module: str, extra: str) -> Any:
    """The optional module, or an error that says how to get it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"this needs {module}, which is not installed: pip install 'idlewise[{extra}]'") from error


class Table:
    """A table whose columns carry their units and meanings.

    Any library that knows Arrow's PyCapsule interface takes it as it is: `polars.DataFrame(table)`,
    `pyarrow.table(table)`, DuckDB, and so on. The memory is shared, and freed when the last one is done with it.
    """

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    @classmethod
    def from_arrow(cls, source: Any) -> Table:
        """Take in a table of another library, which has `__arrow_c_stream__`, without a copy.

        Raises:
            TypeError: `source` has no such method.
            ValueError: What it hands over is not valid.
            Exception: Whatever `source` raised.
        """
        return cls(_native.Table.from_arrow(source))

    def to_arrow(self) -> pyarrow.Table:
        """The table of pyarrow's, without a copy. Raises ImportError if pyarrow is not installed."""
        return needed("pyarrow", "arrow").table(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A data frame of pandas. Raises ImportError if pandas or pyarrow is not installed."""
        needed("pandas", "pandas")
        needed("pyarrow", "pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """A data frame of polars. Raises ImportError if polars is not installed."""
        frame: polars.DataFrame = needed("polars", "polars").DataFrame(self)
        return frame

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _, _ in self._native.columns()]

    def values(self, name: str) -> list[Any]:
        """The values of a column, without any other library; None where nothing was measured.

        Raises:
            KeyError: There is no such column.
            TypeError: It holds neither words nor numbers.
        """
        return self._native.values(name)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column that has one: `ns`, `B`, `B/s`, `1/s`. Shares and indices go from 0 to 1."""
        return {name: unit for name, unit, _ in self._native.columns() if unit}

    @property
    def about(self) -> dict[str, str]:
        """What each column says, in words."""
        return {name: about for name, _, about in self._native.columns()}

    def __arrow_c_schema__(self) -> object:
        """Arrow's schema, as its PyCapsule interface has it."""
        return self._native.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows, as Arrow's PyCapsule interface has them; a wish for another schema is not fulfilled."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a table cannot be pickled: send what to_arrow() or to_pandas() gives")

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<idlewise.Table: {len(self)} rows of {', '.join(self.columns[:6])}, …>"
