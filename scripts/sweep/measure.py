#!/usr/bin/env python3
"""What a sweep over Alibaba's block traces would take: measures requests per second and memory, and scales them up.

    scripts/sweep/measure.py PROGRAM TRACES

PROGRAM is `idlewise`, built for release; TRACES the folder that has cloudPhysicsIO.vscsi, a virtual machine's disk over two
hours. Alibaba published 20 billion requests of 1000 volumes over 31 days: the same kind of disk, so that rates carry over;
what is told of a request is the same, too (arrival, address, length, direction). The trace is repeated, two hours later each
time, as one long volume for the rates, and dealt out to 1000 volumes in Alibaba's own format for splitting. Times are of the
processor, so that other work on the machine hardly counts. Prints Markdown for docs/sweep.md.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

REQUESTS = 20_000_000_000
VOLUMES = 1000
TURN_US = 7_200_000_000
DISKS = ["hdd-18tb-7200", "sata-ssd", "nvme-ssd"]
# Too slow for this load: its queue is always full.
OVERLOADED = "barracuda"
SCHEDULERS = ["none", "mq-deadline", "kyber", "bfq"]
# How often the trace is repeated: for rates, for memory, for splitting.
RATE, LONG, SPLIT = 10, 40, 35


def run(program, *words):
    """Runs the program; gives its processor seconds and its peak memory in MB."""
    child = subprocess.Popen([program, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(map(str, words))}: {said}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def rows_of(program, trace, folder):
    """The trace's rows as (microseconds, direction, offset in bytes, bytes)."""
    text = folder / "rows.csv"
    run(program, "trace", "convert", trace, text)
    rows = []
    with open(text) as lines:
        names = next(lines).rstrip().split(",")
        time, kind, start, sectors = map(names.index, ["arrival_ns", "operation", "start", "sectors"])
        for line in lines:
            row = line.split(",")
            if row[kind] in "RW":
                rows.append((int(row[time]) // 1000, row[kind], int(row[start]) * 512, int(row[sectors]) * 512))
    return rows


def alibaba(path, rows, turns, volumes):
    """Writes rows again and again in Alibaba's format, dealt out to volumes; gives how many there are."""
    with open(path, "w") as out:
        for turn in range(turns):
            base = turn * TURN_US
            out.writelines(
                f"{(index * 7919 + turn) % volumes},{kind},{offset},{size},{base + time}\n"
                for index, (time, kind, offset, size) in enumerate(rows)
            )
    return len(rows) * turns


def sweep(program, folder, trace, disk, scheduler, seed, extra=""):
    """A sweep of one disk and scheduler; its processor seconds and peak memory."""
    file = folder / "sweep.toml"
    file.write_text(
        f'output = "{folder / "out"}"\ntraces = ["{trace}"]\ndisks = ["{disk}"]\nschedulers = ["{scheduler}"]\n'
        f"seeds = [{seed}]\n{extra}"
    )
    return run(program, "sweep", file, "--jobs", "1")


def grouped(number):
    """A number with a space between thousands."""
    return f"{number:,.0f}".replace(",", " ")


def hours(seconds_a_row):
    """Core-hours for all requests."""
    return grouped(seconds_a_row * REQUESTS / 3600)


def rates(program, folder, rows):
    """Prints the table of rates."""
    trace = folder / "long.csv"
    count = alibaba(trace, rows, RATE, 1)
    few = "options = {max-requests = 1}\n"
    # What is done once for a trace, whatever the runs.
    sweep(program, folder, trace, DISKS[0], SCHEDULERS[0], 1, few)
    print("| disk | scheduler | requests/s on one core | core-hours | MB |\n|---|---|---|---|---|")
    total = 0.0
    for disk in [*DISKS, OVERLOADED]:
        for scheduler in SCHEDULERS:
            seconds, peak = sweep(program, folder, trace, disk, scheduler, 2)
            total += seconds / count if disk in DISKS else 0
            print(f"| {disk} | {scheduler} | {grouped(count / seconds)} | {hours(seconds / count)} | {peak:.0f} |", flush=True)
    print(f"\nThe first three disks under all four: {hours(total)} core-hours.")
    long = folder / "longer.csv"
    count = alibaba(long, rows, LONG, 1)
    sweep(program, folder, long, DISKS[1], SCHEDULERS[1], 1, few)
    seconds, peak = sweep(program, folder, long, DISKS[1], SCHEDULERS[1], 2)
    print(f"A trace {LONG // RATE} times as long, {SCHEDULERS[1]} on {DISKS[1]}: {grouped(count / seconds)} requests/s, {peak:.0f} MB.")


def splitting(program, folder, rows):
    """Prints what splitting takes."""
    trace = folder / "volumes.csv"
    count = alibaba(trace, rows, SPLIT, VOLUMES)
    few = "options = {max-requests = 1}\n"
    with_work, peak = sweep(program, folder, trace, DISKS[1], SCHEDULERS[0], 1, few)
    without, _ = sweep(program, folder, trace, DISKS[1], SCHEDULERS[0], 2, few)
    seconds = (with_work - without) / count
    pieces = sum(file.stat().st_size for file in (folder / "out").glob("_work/*/split/*"))
    print(
        f"Hash, survey and splitting into {VOLUMES} volumes ({count} requests): {grouped(1 / seconds)} requests/s, "
        f"{hours(seconds)} core-hours, {peak:.0f} MB; {pieces / count:.1f} bytes a request in the work folder, "
        f"{pieces / count * REQUESTS / 1e9:.0f} GB."
    )


def main():
    """Measures and prints."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, trace = os.path.abspath(sys.argv[1]), Path(sys.argv[2], "cloudPhysicsIO.vscsi")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = rows_of(program, trace, folder)
        rates(program, folder, rows)
        print()
        splitting(program, folder, rows)


if __name__ == "__main__":
    main()
