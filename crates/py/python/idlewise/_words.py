"""From keywords to the words of a command line, whose options these are."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import pairwise
from typing import Any, TypeAlias

from idlewise import _checks, _native

Value: TypeAlias = bool | int | float | str | timedelta
"""What a setting takes: on and off, a number, a time as text (`"30s"`, `"500ms"`) or as a timedelta."""

PathLike: TypeAlias = str | os.PathLike[str]

TAKES: dict[str, Callable[[str, Any], Any]] = {
    "flag": _checks.flag,
    "whole": _checks.whole,
    "number": _checks.number,
    "path": _checks.path,
    "time": _checks.time,
    "text": _checks.words,
}
"""What checks the value of an option, by what it takes."""

INVERTED = ("calibrated", "merges")
"""Keywords that are on unless they are given; the option is for off."""


@dataclass(frozen=True)
class Option:
    """An option of `idlewise compare`."""

    name: str
    keyword: str
    takes: str
    repeats: bool

    def values(self, value: Any, shown: str) -> list[str] | bool:
        """What the command line has of `value`: texts, or whether it is given. `shown` is the argument's name."""
        check = TAKES[self.takes]
        if self.takes == "flag":
            return bool(check(shown, value)) != (self.keyword in INVERTED)
        found = _checks.several(shown, value, check) if self.repeats else [check(shown, value)]
        return [str(one) for one in found]


@cache
def options() -> dict[str, Option]:
    """The options by their keywords."""
    return {keyword: Option(name, keyword, takes, many) for name, keyword, takes, many in _native.options()}


def given(values: Mapping[str, Any]) -> list[str]:
    """The words of these keywords; None is not given."""
    found: list[str] = []
    for keyword, value in values.items():
        if value is None:
            continue
        option = options()[keyword]
        of_value = option.values(value, keyword)
        if isinstance(of_value, list):
            found += [f"--{option.name}={one}" for one in of_value]
        elif of_value:
            found.append(f"--{option.name}")
    return found


def text(value: Any, name: str = "a setting") -> str:
    """`value` as a command line has it."""
    switch = _checks.boolean(value)
    if switch is not None:
        return "on" if switch else "off"
    if isinstance(value, str | timedelta):
        return _checks.time(name, value)
    try:
        return str(_checks.number(name, value))
    except TypeError:
        raise _checks.wrong(name, "True or False, a number, text or a timedelta", value) from None


def shown(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Settings as a command line has them; those that are None are not given."""
    return [(name, text(value, name)) for name, value in values.items() if value is not None]


def settings(prefix: str, values: Mapping[Any, Any]) -> list[str]:
    """What `--set` has of these settings."""
    return [f"{prefix}{name}={value}" for name, value in shown(values)]


def all_settings(settings_of: Any, weights: Any) -> list[str]:
    """What `--set` has of tunables by scheduler, and of the weights of processes."""
    found: list[str] = []
    for name, values in _checks.mapping("settings_of", settings_of).items():
        found += settings(f"{name}.", _checks.mapping(f"settings_of {name}", values))
    for who, weight in _checks.mapping("weights", weights).items():
        found.append(f"weight.{_checks.whole('weights', who, 0)}={_checks.whole('weights', weight, 1)}")
    return found


def runs(seeds: int | Sequence[int] | None) -> list[str]:
    """The options for these seeds: how many from 1 on, or those that follow one another.

    Raises:
        ValueError: There are none, or they do not follow one another.
    """
    listed = _checks.seeds(seeds)
    if any(after != seed + 1 for seed, after in pairwise(listed)):
        raise ValueError(
            "seeds: give how many runs there are, or seeds that follow one another, such as range(1, 6): "
            "only those can be repeated with the command line"
        )
    return [f"--seed={listed[0]}", f"--runs={len(listed)}"]
