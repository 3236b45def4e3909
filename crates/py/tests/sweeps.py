"""What the tests of sweeps share: a small product, and what its dataset holds."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

on_ray = pytest.mark.skipif(
    find_spec("ray") is None or os.environ.get("IDLEWISE_RAY") == "0",
    reason="no Ray (pip install 'idlewise[ray]'), or IDLEWISE_RAY=0 leaves it out",
)

ROW = "{time},web,{device},{kind},{start},4096,{took}\n"


def trace(folder: Path) -> Path:
    """A trace of three devices, MSR's format."""
    rows = []
    for index in range(6000):
        start = index * 7_919_104 % 4_000_000_000 // 4096 * 4096
        kind = "Write" if index % 3 == 0 else "Read"
        time = 128_166_372_003_061_629 + index * 30_000
        rows.append(ROW.format(time=time, device=index % 3, kind=kind, start=start, took=9000 + index % 7))
    file = folder / "web.csv"
    file.write_text("".join(rows))
    return file


def product(folder: Path) -> dict[str, Any]:
    """Two disks, two schedulers and two seeds for each of three devices and one workload: 32 runs."""
    return {
        "traces": [{"file": trace(folder), "name": "web"}],
        "workloads": "random:n=4,requests=500",
        "disks": ["barracuda", "sata-ssd"],
        "schedulers": ["deadline", "lottery"],
        "seeds": 2,
    }


def results(folder: Path) -> dict[str, bytes]:
    """The files of a dataset by their places."""
    files = sorted(folder.glob("trace=*/disk=*/*.parquet"))
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}
