"""Sweeps on Ray, with two workers on this machine: the same results, whoever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import idlewise
import pytest
from sweeps import on_ray, product, results

pytestmark = on_ray

DRIVER = """
import sys, idlewise
found = idlewise.sweep(workloads="random:n=4,requests=40000", disks="barracuda", schedulers=["c-look", "cfq"], seeds=8,
    output=sys.argv[1], engine=sys.argv[2], jobs=2)
print(found.there, found.new)
"""


def test_results_are_those_of_threads_bit_for_bit(tmp_path: Path) -> None:
    asked = product(tmp_path)
    idlewise.sweep(**asked, output=tmp_path / "threads")
    found = idlewise.sweep(**asked, output=tmp_path / "ray", engine="ray", jobs=2)
    assert (found.there, found.new, found.failed) == (32, 32, [])
    assert results(tmp_path / "ray") == results(tmp_path / "threads")


def children(of: int) -> list[tuple[int, str]]:
    """The processes below a process, with their titles."""
    below: dict[int, list[int]] = {}
    titles: dict[int, str] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                parent = int(Path(f"/proc/{entry}/stat").read_text().rsplit(")", 1)[1].split()[1])
                titles[int(entry)] = Path(f"/proc/{entry}/cmdline").read_text().replace("\0", " ").strip()
            except (FileNotFoundError, ProcessLookupError):
                continue
            below.setdefault(parent, []).append(int(entry))
    found, left = [], [of]
    while left:
        for child in below.get(left.pop(), []):
            found.append((child, titles[child]))
            left.append(child)
    return found


def until(condition: Callable[[], object], what: str) -> None:
    """Wait for something, for a minute and a half."""
    end = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < end, f"{what} did not come"
        time.sleep(0.02)


@pytest.fixture
def begun(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A driver on Ray of which some results are there; what is left of it is ended."""
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(tmp_path / "out"), "ray"], stdout=subprocess.PIPE, text=True
    )
    seen: set[int] = set()
    try:
        until(lambda: len(results(tmp_path / "out")) >= 3 or driver.poll() is not None, "results")
        seen = {process for process, _ in children(driver.pid)}
        yield driver
    finally:
        for process in {driver.pid, *seen}:
            if Path(f"/proc/{process}").exists():
                os.kill(process, signal.SIGKILL)
        driver.wait()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the driver's sweep gives when nobody is killed."""
    output = tmp_path_factory.mktemp("whole")
    subprocess.run([sys.executable, "-c", DRIVER, output, "local"], check=True, capture_output=True)
    return results(output)


def test_a_worker_that_is_killed_is_replaced(
    tmp_path: Path, begun: subprocess.Popen[str], whole: dict[str, bytes]
) -> None:
    def kill_one() -> bool:
        for process, title in children(begun.pid):
            if title.startswith("ray::attempt"):
                os.kill(process, signal.SIGKILL)
                return True
        return False

    until(kill_one, "a worker that is at work")
    assert len(results(tmp_path / "out")) < 16, "the worker was killed in the middle"
    printed, _ = begun.communicate(timeout=120)
    assert begun.returncode == 0
    assert printed.split()[-2] == "16"  # Ray prints, too.
    assert results(tmp_path / "out") == whole


def test_a_driver_that_is_killed_leaves_what_goes_on(
    tmp_path: Path, begun: subprocess.Popen[str], whole: dict[str, bytes]
) -> None:
    workers = {process for process, title in children(begun.pid) if title.startswith("ray::")}
    begun.kill()
    begun.wait()
    # The cluster on this machine ends with the program that began it.
    until(lambda: not any(Path(f"/proc/{process}").exists() for process in workers), "the workers' end")
    part = results(tmp_path / "out")
    assert 0 < len(part) < 16
    assert part.items() <= whole.items(), "no result is cut short"
    again = subprocess.run(
        [sys.executable, "-c", DRIVER, tmp_path / "out", "ray"], check=True, capture_output=True, text=True
    )
    assert again.stdout.split()[-2:] == ["16", str(16 - len(part))]
    assert results(tmp_path / "out") == whole
