"""Which tests run: those on Ray want Ray, and half a minute."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "ray: wants Ray, a big download")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    reason = None
    if find_spec("ray") is None:
        reason = "no ray (pip install 'idlewise[ray]')"
    elif os.environ.get("IDLEWISE_RAY") == "0":
        reason = "IDLEWISE_RAY=0 leaves Ray out"
    if reason is not None:
        for item in items:
            if item.get_closest_marker("ray"):
                item.add_marker(pytest.mark.skip(reason=reason))
