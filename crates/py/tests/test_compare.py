"""Comparisons: the same numbers as the program's, as tables, while Python goes on."""

import json
import math
import os
import pickle
import shlex
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import idlewise
import pandas
import polars
import pyarrow
import pytest
from idlewise._plot import bars

LOADS = ["sync-streams:n=3,requests=300", "random:n=8,requests=200", "poisson:requests=1000,rate=50"]
LONG = {"workload": "random:n=8,requests=10000000", "disk": "nvme-ssd", "schedulers": "noop"}


@pytest.mark.parametrize("workload", LOADS)
def test_every_scheduler_has_the_numbers_of_the_program(cli: str, workload: str) -> None:
    result = idlewise.compare(workload=workload, disk="maxtor-40g", schedulers=["linux", "all"], seeds=2)
    assert result.command is not None
    words = [cli, *shlex.split(result.command)[1:], "--json"]
    told = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    assert told.pop("command") == result.command + " --json"
    own = result.json()
    own.pop("command")
    assert own == told
    assert len(own["results"]) > 37


def test_a_trace_and_a_fio_job(demo: Path, tmp_path: Path) -> None:
    result = idlewise.compare(trace=demo, disk="maxtor-40g", schedulers=["noop", "c-look"])
    assert result.json()["trace"]["sha256"]
    assert result.verdict
    job = tmp_path / "job.fio"
    job.write_text("[reads]\nrw=randread\nbs=4k\nsize=1m\nnumjobs=2\nclat_percentiles=1\nnice=3\n")
    of_job = idlewise.compare(fio=job, disk="maxtor-40g", schedulers="noop")
    assert of_job.summary.values("requests") == [512.0]
    assert any("warning" in note for note in of_job.notes)


def test_times_of_nothing_are_null() -> None:
    only_reads = idlewise.compare(workload="random:n=2,requests=50", disk="maxtor-40g", schedulers="noop", seeds=2)
    for table in (only_reads.summary, only_reads.runs):
        nothing = ("write.latency_ns.p99", "write.observed_ns_p99", "flush_latency_ns.mean", "discard.latency_ns.max")
        assert all(set(table.values(name)) == {None} for name in nothing)
        assert set(table.values("write.requests")) == {0.0}
        assert min(table.values("read.latency_ns.p99")) > 0


def test_tables_are_those_of_the_libraries() -> None:
    result = idlewise.compare(workload="random:n=2,requests=50", disk="maxtor-40g", schedulers="noop,deadline", seeds=3)
    arrow, frame, table = result.to_arrow(), result.to_polars(), result.to_pandas()
    assert isinstance(arrow, pyarrow.Table)
    assert isinstance(frame, polars.DataFrame)
    assert isinstance(table, pandas.DataFrame)
    # The comparison is a table itself.
    assert polars.DataFrame(result).equals(frame)
    results = result.json()["results"]
    for name in ("requests", "throughput_bytes_per_s", "read.latency_ns.p99", "device.seek_ns_mean", "iops_ci95"):
        expected = []
        for row in results:
            value = row
            for part in name.split("."):
                value = value[part]
            expected.append(value)
        assert frame[name].to_list() == expected == list(table[name]) == result.summary.values(name)
    assert arrow.schema.field("elapsed_ns").metadata[b"unit"] == b"ns"
    assert result.summary.units["throughput_bytes_per_s"] == "B/s"
    assert "Median" in result.summary.about["read.latency_ns.p50"]
    runs = result.runs.to_polars()
    assert runs.shape[0] == 6
    assert runs["seed"].to_list() == [1, 2, 3, 1, 2, 3]
    means = runs.group_by("scheduler", maintain_order=True).agg(polars.col("iops").mean())
    assert means["iops"].to_list() == pytest.approx(frame["iops"].to_list())
    assert set(result.processes.values("id")) == {1, 2}


def test_a_comparison_has_rows_by_scheduler() -> None:
    result = idlewise.compare(workload="random:n=2,requests=50", disk="maxtor-40g", schedulers="noop,deadline")
    assert len(result) == 2
    assert list(result) == result.schedulers == ["noop", "deadline"]
    assert "deadline" in result
    assert [result[name]["iops"] for name in result] == result.summary.values("iops")
    with pytest.raises(KeyError, match=r"no scheduler 'bfq' took part \(there are: noop, deadline\)"):
        result["bfq"]


def test_options_reach_the_runs() -> None:
    result = idlewise.compare(
        workload="sync-streams:n=2,requests=100",
        disk=idlewise.Disk("maxtor-40g", cache=False),
        schedulers=[idlewise.schedulers()["deadline"](read_expire="100ms"), "antic-sptf"],
        settings_of={"antic-sptf": {"timer": "3ms"}},
        weights={2: 300},
        seeds=[7, 8],
        duration="2s",
        merges=False,
    )
    document = result.json()
    assert document["seeds"] == [7, 8]
    assert document["settings"]["weight.2"] == 300
    assert result.schedulers == ["deadline:read_expire=100", "antic-sptf"]
    assert document["settings"]["antic-sptf.timer"] == 3000  # µs
    assert document["disk"] == "maxtor-40g"
    assert result.command is not None
    assert "--disk=maxtor-40g:cache=off" in result.command
    assert sum(result.summary.values("merges")) == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"workload": "nope"}, "there is no workload 'nope'"),
        ({"workload": "random", "schedulers": "c-lok"}, "did you mean 'c-look'"),
        ({"workload": "random", "disk": "maxtor-40"}, "did you mean 'maxtor-40g'"),
        ({"workload": "random", "open_loop": True}, "^open_loop is for traces"),
        ({"workload": "random", "seeds": [1, 5]}, "follow one another"),
        ({"workload": "random", "settings_of": {"noop": {"x": 1}}}, "no tunable 'x'"),
        ({}, "what shall the disk do"),
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        idlewise.compare(**wrong)  # type: ignore[arg-type]
    assert "--" not in str(raised.value)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(idlewise.Error, match="/nowhere"):
        idlewise.compare(trace="/nowhere", disk="maxtor-40g")


def test_progress_is_told_and_may_stop() -> None:
    told: list[tuple[float, int]] = []

    def enough(share: float, requests: int) -> bool:
        told.append((share, requests))
        return requests < 100_000

    result = idlewise.compare(**LONG, progress=enough)  # type: ignore[arg-type]
    assert result.interrupted
    assert told[-1][1] >= 100_000
    assert all(0.0 <= share <= 1.0 for share, _ in told)


def test_what_progress_raises_ends_the_runs() -> None:
    def fails(share: float, requests: int) -> None:
        raise LookupError("no progress")

    with pytest.raises(LookupError, match="no progress"):
        idlewise.compare(**LONG, progress=fails)  # type: ignore[arg-type]


def test_ctrl_c_ends_the_runs() -> None:
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        idlewise.compare(**LONG)  # type: ignore[arg-type]
    timer.join()


def test_a_fork_compares_too() -> None:
    asked: dict[str, Any] = {"workload": "random:n=2,requests=50", "disk": "maxtor-40g", "schedulers": "noop,deadline"}
    idlewise.compare(**asked)
    child = os.fork()
    if child == 0:
        try:
            os._exit(len(idlewise.compare(**asked)))
        finally:
            os._exit(99)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child does not end")
    assert os.waitstatus_to_exitcode(status) == 2


def test_results_are_sent_as_data() -> None:
    result = idlewise.compare(workload="random:n=2,requests=20", schedulers="noop")
    with pytest.raises(TypeError, match=r"send what json\(\) or to_pandas\(\) gives"):
        pickle.dumps(result)
    with pytest.raises(TypeError, match=r"send what to_arrow\(\) or to_pandas\(\) gives"):
        pickle.dumps(result.summary)
    assert pickle.loads(pickle.dumps(result.to_pandas())).equals(result.to_pandas())


def test_other_threads_go_on() -> None:
    counted, ended = 0, threading.Event()

    def count() -> None:
        nonlocal counted
        while not ended.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    time.sleep(0.1)
    before = counted
    idlewise.compare(workload="random:n=8,requests=100000", disk="nvme-ssd", schedulers="noop,deadline")
    during = counted - before
    ended.set()
    thread.join()
    assert during > 20


def test_files(tmp_path: Path) -> None:
    result = idlewise.compare(workload="random:n=2,requests=20", schedulers="noop,deadline")
    assert "<!doctype html>" in result.save(tmp_path / "page.html").read_text()
    assert json.loads(result.save(tmp_path / "all.json").read_text())["verdict"] == result.verdict
    assert result.save(tmp_path / "table.csv").read_text().startswith("scheduler,")
    with pytest.raises(ValueError, match=r"\.html"):
        result.save(tmp_path / "x.txt")
    page = result.save(tmp_path / "page.html").read_text()
    assert result.command is not None
    assert f"<code>{result.command}</code>" in page
    assert "The same command gives the same numbers" in page


def test_a_plot_shows_every_scheduler() -> None:
    pytest.importorskip("matplotlib").use("agg")
    result = idlewise.compare(workload="random:n=2,requests=50", schedulers="noop,deadline", seeds=3)
    axes = result.plot("read.latency_ns.mean")
    assert {label.get_text() for label in axes.get_yticklabels()} == {"noop", "deadline"}
    widths = sorted(bar.get_width() for bar in axes.patches)  # type: ignore[attr-defined]
    assert widths == pytest.approx(sorted(value / 1e6 for value in result.summary.values("read.latency_ns.mean")))
    assert axes.get_xlabel() == "read.latency_ns.mean, ms"
    for name in ("nope", "scheduler", "iops_ci95"):
        with pytest.raises(ValueError, match=rf"there is no figure '{name}' \(there are: runs|requests, "):
            result.plot(name)


def test_what_was_not_measured_has_no_bar() -> None:
    pytest.importorskip("matplotlib").use("agg")
    columns = {"scheduler": ["a", "b", "c"], "x": [2.0, None, 0.0], "x_ci95": [0.5, None, 0.0]}
    axes = bars(idlewise.Table.from_arrow(pyarrow.table(columns)), "x", "a title", None)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["b", "c", "a"]
    widths = [bar.get_width() for bar in axes.patches]  # type: ignore[attr-defined]
    assert math.isnan(widths[0])
    assert widths[1:] == [0.0, 2.0]
