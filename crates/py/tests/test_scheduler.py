"""Schedulers in Python."""

import os
import signal
import threading
import time
from typing import Any, ClassVar

import idlewise
import pytest
from conftest import Elevator, Fifo

LOAD: dict[str, Any] = {"workload": "random:n=16,requests=200,reads=60", "disk": "maxtor-40g"}


def figures(result: idlewise.Comparison) -> list[dict[str, Any]]:
    return [{**row, "scheduler": ""} for row in result.json()["results"]]


@pytest.mark.parametrize(
    "load",
    [
        LOAD,
        {"workload": "sync-streams:n=4,requests=200", "disk": "maxtor-40g"},
        {"workload": "write-and-read:file=20m,written=40m", "disk": "sata-ssd"},
        {"workload": "machine:program=find,n=2,scale=50", "disk": "maxtor-40g"},
        {"workload": "random:n=8,requests=100", "disk": "raid5:n=4,of=maxtor-40g"},
    ],
)
@pytest.mark.parametrize(("name", "own"), [("noop", Fifo), ("c-look", Elevator)])
def test_the_same_rules_give_the_same_numbers(load: dict[str, Any], name: str, own: type) -> None:
    if own is Elevator:
        # A merge at the front would move a request from its place, which this one is not told.
        load = {**load, "merges": False}
    theirs, ours = figures(idlewise.compare(**load, schedulers=[name, own]))
    assert theirs == ours


def test_a_trace_too(demo: os.PathLike[str]) -> None:
    theirs, ours = figures(idlewise.compare(trace=demo, disk="maxtor-40g", schedulers=["noop", Fifo], merges=False))
    assert theirs == ours


@pytest.mark.parametrize("schedulers", [[Fifo], ["noop", Fifo]])
def test_no_command_is_told_that_would_leave_it_out(schedulers: list[Any], demo: os.PathLike[str]) -> None:
    result = idlewise.compare(**LOAD, schedulers=schedulers)
    assert result.command is None
    assert result.json()["command"] is None
    why = "No command repeats this: the program that asked for it brought schedulers of its own along (Fifo)."
    for text in (" ".join(str(result).split()), result.html()):
        assert why in text
        assert "idlewise compare" not in text
        assert "The same command" not in text
    of_trace = idlewise.compare(trace=demo, disk="maxtor-40g", schedulers=schedulers, max_requests=100)
    assert "trace sha256" in str(of_trace)


def test_each_run_has_its_own() -> None:
    made = []

    class Counting(Fifo):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    idlewise.compare(**LOAD, schedulers=Counting, seeds=3)
    assert len(made) == 3
    assert not any(one.waiting for one in made)


def test_every_method_is_called() -> None:
    class All(Fifo):
        name = "all of them"
        told: ClassVar[dict[str, int]] = {}

        def tell(self, what: str) -> None:
            self.told[what] = self.told.get(what, 0) + 1

        def begin(self, device: idlewise.Device) -> None:
            assert device.sectors > 70_000_000
            assert device.rotational
            assert device.queue_size == 4096
            assert device.depth >= 1
            self.tell("begin")

        def insert(self, now: int, request: idlewise.Request) -> None:
            assert request.arrival == now
            assert request.operation in ("read", "write")
            assert request.is_read == (request.operation == "read")
            assert request.end == request.start + request.sectors
            super().insert(now, request)

        def complete(self, now: int, request: idlewise.Request) -> None:
            self.tell("complete")

        def grown(self, now: int, request: idlewise.Request) -> None:
            assert request in self.waiting
            self.tell("grown")

        def remove(self, now: int, request: idlewise.Request) -> None:
            self.waiting.remove(request)
            self.tell("remove")

        def exited(self, now: int, issuer: int) -> None:
            self.tell("exited")

    load = {"workload": "machine:program=find,n=2,scale=50", "disk": "maxtor-40g"}
    result = idlewise.compare(**load, schedulers=["noop", All])  # type: ignore[arg-type]
    assert result.schedulers == ["noop", "all of them"]
    assert {"begin", "complete", "exited"} <= set(All.told)
    mixed = idlewise.compare(
        workload="write-and-read:file=10m,written=20m,writes=64,bs=4k", disk="maxtor-40g", schedulers=[All]
    )
    assert mixed.summary.values("merges") > [0.0]
    assert All.told["grown"] > 0


def test_waiting_for_a_better_request_pays() -> None:
    class Patient(Fifo):
        """Waits 5 ms for the process whose request was the last: deceptive idleness."""

        def __init__(self) -> None:
            super().__init__()
            self.last, self.until = -1, 0

        def dispatch(self, now: int) -> idlewise.Request | idlewise.WaitUntil | None:
            mine = next((request for request in self.waiting if request.issuer == self.last), None)
            if mine is None and now < self.until:
                return idlewise.WaitUntil(self.until)
            request = mine or self.waiting[0]
            self.waiting.remove(request)
            self.last = request.issuer
            return request

        def complete(self, now: int, request: idlewise.Request) -> None:
            self.until = now + 5_000_000

    result = idlewise.compare(workload="sync-streams:n=2", disk="maxtor-40g", schedulers=[Fifo, Patient], duration="5s")
    without, with_it = result.summary.values("throughput_bytes_per_s")
    assert with_it > 2 * without


def wrong(method: str, does: Any) -> type:
    return type("Wrong", (Fifo,), {method: does})


def raises(*_: Any) -> None:
    raise LookupError("of my own")


@pytest.mark.parametrize("method", ["__init__", "begin", "insert", "dispatch", "complete"])
def test_what_it_raises_is_raised(method: str) -> None:
    with pytest.raises(LookupError, match="of my own") as raised:
        idlewise.compare(**LOAD, schedulers=["noop", wrong(method, raises)])
    assert any(entry.name == "raises" for entry in raised.traceback)


def twice(own: Any, now: int) -> Any:
    return own.waiting[0]


@pytest.mark.parametrize(
    ("does", "error", "message"),
    [
        (twice, ValueError, "was dispatched before"),
        (lambda own, now: 7, TypeError, "returned 7: return a request"),
        (lambda own, now: idlewise.WaitUntil(now), ValueError, "wants to wait until"),
        (lambda own: None, TypeError, "positional argument"),
    ],
)
def test_wrong_answers_are_errors(does: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        idlewise.compare(**LOAD, schedulers=wrong("dispatch", does))


def test_a_request_of_another_run_is_an_error() -> None:
    kept: list[Any] = []

    class Keeps(Fifo):
        def insert(self, now: int, request: idlewise.Request) -> None:
            super().insert(now, request)
            kept.append(request)

        def dispatch(self, now: int) -> idlewise.Request | None:
            return None

    with pytest.raises(idlewise.Error, match="the scheduler is idle although"):
        idlewise.compare(**LOAD, schedulers=Keeps)
    with pytest.raises(ValueError, match="of another run"):
        idlewise.compare(**LOAD, schedulers=wrong("dispatch", lambda own, now: kept[0]))
    done: list[Any] = []
    idlewise.compare(**LOAD, schedulers=wrong("complete", lambda own, now, request: done.append(request)))
    with pytest.raises(ValueError, match="of another run"):
        idlewise.compare(**LOAD, schedulers=wrong("dispatch", lambda own, now: done[0]))


def test_who_is_no_scheduler_is_refused() -> None:
    with pytest.raises(TypeError, match="has no insert"):
        idlewise.compare(**LOAD, schedulers=[lambda_named("nothing", lambda: object())])
    with pytest.raises(TypeError, match="neither: 3"):
        idlewise.compare(**LOAD, schedulers=[3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="cannot be called 'noop'"):
        idlewise.compare(**LOAD, schedulers=[type("noop", (Fifo,), {})])
    for name in ("linux", "All", "textbook"):
        with pytest.raises(ValueError, match=f"cannot be called '{name}'"):
            idlewise.compare(**LOAD, schedulers=[type("Own", (Fifo,), {"name": name})])
    with pytest.raises(ValueError, match="wants one"):
        idlewise.compare(workload="random", disk="md5:n=4,of=maxtor-40g", schedulers=Fifo)


def lambda_named(name: str, make: Any) -> Any:
    make.__name__ = name
    return make


def test_ctrl_c_ends_a_scheduler_in_python() -> None:
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        idlewise.compare(workload="random:n=8,requests=100000000", disk="nvme-ssd", schedulers=Fifo)
    timer.join()
    assert time.monotonic() - began < 60


class Ticking(Fifo):
    """Wants to be asked again at once."""

    def dispatch(self, now: int) -> idlewise.WaitUntil:
        return idlewise.WaitUntil(now + 1)


class Slow(Fifo):
    """Takes its time."""

    def dispatch(self, now: int) -> idlewise.Request | idlewise.WaitUntil | None:
        time.sleep(0.02)
        return super().dispatch(now)


@pytest.mark.parametrize("own", [Ticking, Slow])
def test_a_scheduler_that_gets_nowhere_can_be_stopped(own: type[Fifo]) -> None:
    asked = {"workload": "random:n=8,requests=20000", "disk": "nvme-ssd", "schedulers": own}
    began = time.monotonic()
    result = idlewise.compare(**asked, progress=lambda *_: time.monotonic() < began + 0.5)  # type: ignore[arg-type]
    assert result.interrupted
    assert result.summary.values("requests")[0] < 2000


def test_a_comparison_inside_of_a_scheduler() -> None:
    class Asking(Fifo):
        def begin(self, device: idlewise.Device) -> None:
            assert len(idlewise.compare(**LOAD, schedulers=["noop", "deadline"])) == 2

    assert len(idlewise.compare(**LOAD, schedulers=["noop", Asking], seeds=4)) == 2


def test_methods_may_be_the_instances_own() -> None:
    told: list[int] = []

    class Shared(Fifo):
        def __init__(self) -> None:
            super().__init__()
            self.complete = lambda now, request: told.append(now)  # type: ignore[method-assign]

    requests = idlewise.compare(**LOAD, schedulers=Shared, merges=False).summary.values("requests")
    assert [len(told)] == requests


def test_those_there_are() -> None:
    known = idlewise.schedulers()
    assert {"noop", "mq-deadline", "bfq", "antic-sptf", "auto-predict"} <= set(known)
    assert known["deadline"](read_expire="100ms", fifo_batch=4) == "deadline:read_expire=100ms;fifo_batch=4"
    assert str(known["noop"]) == known["noop"]() == "noop"
    assert "deadline" in known["deadline"].page()
    assert "c-look" in repr(known)
    with pytest.raises(ValueError, match="it has: read_expire"):
        known["deadline"](reads=1)
