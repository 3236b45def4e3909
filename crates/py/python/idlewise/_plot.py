"""Pictures of results, by matplotlib."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from idlewise._table import Table, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = {"ns": ("ms", 1e6), "B": ("MB", 1e6), "B/s": ("MB/s", 1e6), "1/s": ("1/s", 1.0)}
"""The units that people read, by a column's unit, and how much of the value makes one."""

WIDTH = 8.0
"""Inches."""


def is_figure(table: Table, name: str) -> bool:
    """Whether bars can be drawn of a column."""
    values = (value for value in table.values(name) if value is not None)
    return not name.endswith("_ci95") and all(isinstance(value, int | float) for value in values)


def scaled(table: Table, name: str, scale: float) -> list[float]:
    """The values of a column; not a number, which is not drawn, where nothing was measured."""
    return [math.nan if value is None else value / scale for value in table.values(name)]


def bars(table: Table, figure: str, title: str, axes: Axes | None) -> Axes:
    """Bars of `figure`, a row for each scheduler, with confidence intervals if there are any."""
    known = [name for name in table.columns if is_figure(table, name)]
    if figure not in known:
        raise ValueError(f"there is no figure '{figure}' (there are: {', '.join(known)})")
    unit, scale = SHOWN.get(table.units.get(figure, ""), ("", 1.0))
    names = table.values("scheduler")
    means = scaled(table, figure, scale)
    interval = f"{figure}_ci95"
    spread = scaled(table, interval, scale) if interval in table.columns else [0.0] * len(means)
    if axes is None:
        pyplot = needed("matplotlib.pyplot", "plot")
        _, axes = pyplot.subplots(figsize=(WIDTH, 1.2 + 0.3 * len(names)), layout="constrained")
    assert axes is not None
    order = sorted(range(len(names)), key=lambda row: -math.inf if math.isnan(means[row]) else means[row])
    axes.barh(
        [names[row] for row in order],
        [means[row] for row in order],
        xerr=[spread[row] for row in order] if any(spread) else None,
    )
    axes.set_xlabel(f"{figure}, {unit}" if unit else figure)
    axes.set_title("\n".join(textwrap.wrap(title, 80)), fontsize="medium")
    return axes
