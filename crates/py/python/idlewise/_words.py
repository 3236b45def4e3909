"""From keywords to the words of a command line, whose options these are."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import TypeAlias

Value: TypeAlias = bool | int | float | str | timedelta
"""What a setting takes: on and off, a number, a time as text (`"30s"`, `"500ms"`) or as a timedelta."""

PathLike: TypeAlias = str | os.PathLike[str]


def text(value: Value) -> str:
    """`value` as a command line has it."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    return str(value)


def option(name: str, value: Value | os.PathLike[str] | None) -> list[str]:
    """The option `name` with a value; nothing without one."""
    if value is None:
        return []
    shown = os.fspath(value) if isinstance(value, os.PathLike) else text(value)
    return [f"--{name}={shown}"]


def flag(name: str, given: bool) -> list[str]:
    """The option `name`, which has no value, if it is given."""
    return [f"--{name}"] if given else []


def repeated(name: str, values: str | Sequence[str] | None) -> list[str]:
    """The option `name` once for each value."""
    values = [values] if isinstance(values, str) else values or []
    return [f"--{name}={value}" for value in values]


def settings(prefix: str, values: Mapping[str, Value] | Mapping[int, int] | None) -> list[str]:
    """`--set` for each of these settings."""
    return [f"--set={prefix}{name}={text(value)}" for name, value in (values or {}).items()]


def runs(seeds: int | Sequence[int]) -> list[str]:
    """The options for these seeds: how many from 1 on, or those that follow one another.

    Raises:
        ValueError: There are none, or they do not follow one another.
    """
    listed = range(1, 1 + seeds) if isinstance(seeds, int) else list(seeds)
    if len(listed) == 0 or any(after != seed + 1 for seed, after in pairwise(listed)):
        raise ValueError(
            "seeds: give how many runs there are, or seeds that follow one another, such as range(1, 6): "
            "only those can be repeated with the command line"
        )
    return [f"--seed={listed[0]}", f"--runs={len(listed)}"]
