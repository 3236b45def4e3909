#!/usr/bin/env python3
"""How much sooner two workers of Ray are done than one: prints each time and the ratio.

    scripts/sweep/ratio.py [TURNS]        (in an environment that has idlewise[ray]; 3 turns)

The same sweep, 48 runs of about half a second, with one worker and with two, in turns, so that other work on the machine
meets both. The cluster is there before, with workers of usual priority. With idle processors a ratio below 1.8 is a fault.
"""

import os
import statistics
import sys
import tempfile
import time

import idlewise
import ray


def timed(jobs: int) -> float:
    """Seconds that the sweep takes with this number of workers."""
    with tempfile.TemporaryDirectory() as output:
        began = time.monotonic()
        found = idlewise.sweep(
            workloads="random:n=4,requests=400000",
            disks=["barracuda", "sata-ssd"],
            schedulers=["c-look", "cfq", "mq-deadline"],
            seeds=8,
            output=output,
            engine="ray",
            jobs=jobs,
        )
        assert found.there == found.runs == 48
        return time.monotonic() - began


def main() -> None:
    """Measures and prints."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    os.environ.setdefault("RAY_worker_niceness", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="warning")
    # Workers start, and load the package.
    timed(2)
    ratios = []
    for _ in range(turns):
        one, two = timed(1), timed(2)
        ratios.append(one / two)
        print(f"one worker {one:.1f} s, two {two:.1f} s: {one / two:.2f} times", flush=True)
    print(f"median {statistics.median(ratios):.2f} times")


if __name__ == "__main__":
    main()
