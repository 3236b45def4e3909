"""Pictures of results, by matplotlib."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from idlewise._table import Table, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = {"ns": ("ms", 1e6), "B": ("MB", 1e6), "B/s": ("MB/s", 1e6), "1/s": ("1/s", 1.0)}
"""The units that people read, by a column's unit, and how much of the value makes one."""

WIDTH = 8.0
"""Inches."""


def bars(table: Table, figure: str, title: str, axes: Axes | None) -> Axes:
    """Bars of `figure`, a row for each scheduler, with confidence intervals if there are any."""
    if figure not in table.columns or figure.endswith("_ci95"):
        known = ", ".join(name for name in table.columns[1:] if not name.endswith("_ci95"))
        raise ValueError(f"there is no figure '{figure}' (there are: {known})")
    unit, scale = SHOWN.get(table.units.get(figure, ""), ("", 1.0))
    names = table.values("scheduler")
    means = [(value or 0.0) / scale for value in table.values(figure)]
    interval = f"{figure}_ci95"
    spread = [(value or 0.0) / scale for value in table.values(interval)] if interval in table.columns else None
    if axes is None:
        pyplot = needed("matplotlib.pyplot", "plot")
        _, axes = pyplot.subplots(figsize=(WIDTH, 1.2 + 0.3 * len(names)), layout="constrained")
    assert axes is not None
    order = sorted(range(len(names)), key=lambda row: means[row])
    axes.barh(
        [names[row] for row in order],
        [means[row] for row in order],
        xerr=None if spread is None or not any(spread) else [spread[row] for row in order],
    )
    axes.set_xlabel(f"{figure}, {unit}" if unit else figure)
    axes.set_title("\n".join(textwrap.wrap(title, 80)), fontsize="medium")
    return axes
