"""Which disk scheduler should this disk use? Evidence instead of folklore.

idlewise replays what a disk was asked to do against every disk scheduler, on a model of the disk::

    import idlewise

    result = idlewise.compare(workload="sync-streams:n=4", disk="maxtor-40g", schedulers=["linux", "antic-sptf"])
    print(result.verdict)
    result.to_pandas()

It does what the program `idlewise` does, and gives the same numbers. Times are in nanoseconds, sizes in bytes and
addresses in sectors of 512 bytes, unless a name says otherwise.
"""

from idlewise._compare import Comparison, compare
from idlewise._disk import Disk, disks, workloads
from idlewise._native import Device, Error, Request, WaitUntil, __version__
from idlewise._scheduler import Scheduler, schedulers
from idlewise._sweep import Sweep, sweep
from idlewise._table import Table
from idlewise._trace import Trace

__all__ = [
    "Comparison",
    "Device",
    "Disk",
    "Error",
    "Request",
    "Scheduler",
    "Sweep",
    "Table",
    "Trace",
    "WaitUntil",
    "__version__",
    "compare",
    "disks",
    "schedulers",
    "sweep",
    "workloads",
]
