"""What Python costs, measured with an installed wheel that is built for speed (`make wheel`).

    IDLEWISE_CLI=target/release/idlewise python crates/py/benches/speed.py

Prints the processor time of a comparison of a million requests in Python and by the program, in turns, and how many
requests a second schedulers written in Python take.
"""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import idlewise
from conftest import Elevator, Fifo

TURNS = 8
LOAD = {"workload": "random:n=8,requests=62500", "disk": "hdd-18tb-7200", "schedulers": "noop,c-look"}


def seconds(of: int) -> float:
    """Processor time."""
    used = resource.getrusage(of)
    return used.ru_utime + used.ru_stime


def overhead(program: str) -> None:
    """The same comparison in Python and by the program."""
    words = [program, "compare", *(f"--{name}={value}" for name, value in LOAD.items())]
    alone: list[float] = []
    package: list[float] = []
    for _ in range(TURNS):
        before = seconds(resource.RUSAGE_CHILDREN)
        subprocess.run(words, check=True, capture_output=True)
        alone.append(seconds(resource.RUSAGE_CHILDREN) - before)
        before = seconds(resource.RUSAGE_SELF)
        idlewise.compare(**LOAD)  # type: ignore[arg-type]
        package.append(seconds(resource.RUSAGE_SELF) - before)
    share = 100 * (min(package) / min(alone) - 1)
    print(f"a million requests: program {min(alone):.3f} s, package {min(package):.3f} s: {share:+.1f} %")


def speed(own: type[idlewise.Scheduler]) -> None:
    """Requests that a scheduler in Python takes."""
    best = 0.0
    for _ in range(3):
        began = time.process_time()
        result = idlewise.compare(workload="random:n=16,think=0,requests=10000", disk="nvme-ssd", schedulers=own)
        best = max(best, sum(result.summary.values("requests")) / (time.process_time() - began))
    print(f"{own.__name__}: {best:,.0f} requests/s")


if __name__ == "__main__":
    speed(Fifo)
    speed(Elevator)
    if program := os.environ.get("IDLEWISE_CLI"):
        overhead(program)
    else:
        print("IDLEWISE_CLI names no program to compare with")
