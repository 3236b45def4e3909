"""What arguments may be. Each function gives the value, or says which argument is wrong and what it takes instead."""

from __future__ import annotations

import os
import reprlib
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from numbers import Integral, Real
from typing import Any


def wrong(name: str, takes: str, value: object) -> TypeError:
    """The error for a value of the wrong type."""
    return TypeError(f"{name} takes {takes}, not {reprlib.repr(value)}")


def boolean(value: Any) -> bool | None:
    """True or False, which may be `numpy`'s; None if it is neither."""
    of_numpy = type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_")
    return bool(value) if of_numpy or isinstance(value, bool) else None


def flag(name: str, value: Any) -> bool:
    """True or False."""
    found = boolean(value)
    if found is None:
        raise wrong(name, "True or False", value)
    return found


def whole(name: str, value: Any, least: int | None = None) -> int:
    """A whole number, which may be `numpy`'s, from `least` on."""
    takes = "a whole number" if least is None else f"a whole number, {least} or more"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise wrong(name, takes, value)
    if least is not None and value < least:
        raise ValueError(f"{name} takes {takes}, not {value}")
    return int(value)


def number(name: str, value: Any) -> float:
    """A number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise wrong(name, "a number", value)
    return value if isinstance(value, int) else float(value)


def words(name: str, value: Any) -> str:
    """Text, or an entry of what `schedulers()` and `workloads()` list, as its name."""
    entry = value.get("name") if isinstance(value, Mapping) else getattr(value, "entry_name", None)
    if isinstance(entry, str):
        return entry
    if not isinstance(value, str):
        raise wrong(name, "text", value)
    return value


def path(name: str, value: Any) -> str:
    """A path, or what has one."""
    found = os.fspath(value) if isinstance(value, str | os.PathLike) else value
    if not isinstance(found, str):
        raise wrong(name, "text or a path", value)
    return found


def time(name: str, value: Any) -> str:
    """A time: text such as `"30s"`, or a timedelta."""
    if isinstance(value, timedelta):
        return f"{value // timedelta(microseconds=1)}us"
    if not isinstance(value, str):
        raise wrong(name, 'a time, such as "30s" or a timedelta', value)
    return value


def several(name: str, values: Any, one: Callable[[str, Any], Any]) -> list[Any]:
    """What `one` makes of a value, or of each in a list; nothing of None."""
    if values is None:
        return []
    alone = isinstance(values, str | bytes | os.PathLike | Mapping) or hasattr(values, "entry_name")
    if not alone and not isinstance(values, Iterable):
        raise wrong(name, "one, or a list of them", values)
    return [one(name, value) for value in ([values] if alone else values)]


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """A dictionary; an empty one for None."""
    if value is not None and not isinstance(value, Mapping):
        raise wrong(name, "a dictionary", value)
    return value or {}


def seeds(value: Any) -> list[int]:
    """How many seeds from 1 on, or the seeds; 1 for None."""
    if value is None:
        return [1]
    if isinstance(value, Integral) and not isinstance(value, bool):
        return list(range(1, 1 + whole("seeds", value, 1)))
    if isinstance(value, str | bytes | bool) or not isinstance(value, Iterable):
        raise wrong("seeds", "how many there are, or a list of them", value)
    found = [whole("seeds", seed, 0) for seed in value]
    if not found:
        raise ValueError("seeds takes how many there are, or a list of them, and this one is empty")
    return found


def progress(value: Any) -> Callable[[float, int], bool] | None:
    """A function that is told how far the work is, as one that says whether it goes on; None for None."""
    if value is None:
        return None
    if not callable(value):
        raise wrong("progress", "a function", value)
    return lambda share, done: boolean(value(share, done)) is not False


def rows(value: Any) -> int:
    """How many rows a batch has."""
    found = whole("rows", value, 1)
    if found > sys.maxsize:
        raise ValueError(f"rows takes a whole number, 1 to {sys.maxsize}, not {found}")
    return found
