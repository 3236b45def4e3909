"""Sweeps with threads: the dataset, what stays of an early end, object stores, and what is wrong."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import idlewise
import pytest
from idlewise import _engines
from idlewise._places import Cache
from sweeps import on_ray, product, results


def test_a_sweep_gives_each_run_once_and_what_compare_gives(tmp_path: Path) -> None:
    told: list[tuple[float, int]] = []
    output = tmp_path / "out"
    asked = product(tmp_path)
    found = idlewise.sweep(**asked, output=output, progress=lambda share, runs: told.append((share, runs)))
    assert (found.runs, found.there, found.new, found.failed) == (32, 32, 32, [])
    assert told[-1] == (1.0, 32)
    assert len(results(output)) == 32
    frame = found.to_pandas()
    assert len(frame) == 32
    assert not frame.duplicated(["trace", "trace_device", "disk", "scheduler", "seed"]).any()
    alone = idlewise.compare(
        trace=asked["traces"][0]["file"], devices="web_1", disk="barracuda", schedulers="deadline"
    ).to_pandas()
    one = frame[(frame.trace_device == "web_1") & (frame.disk == "barracuda") & (frame.scheduler == "deadline")]
    for column in ["elapsed_ns", "read.latency_ns.p99", "device.busy_ns", "fairness_jain"]:
        assert (one[column] == alone[column][0]).all(), column
    again = idlewise.sweep(**asked, output=output)
    assert (again.there, again.new) == (32, 0)


def test_a_trace_is_read_as_it_says(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    rows = "".join(f"{at * 1000},{'ab'[at % 2]},R,{at * 8},8\n" for at in range(40))
    path.write_text(f"arrival_ns,device,operation,start,sectors\n{rows}oh,a,R,8,8\n")
    trace = idlewise.Trace(path, devices=["a"], lenient=True)
    asked: dict[str, Any] = {"disks": "maxtor-40g", "schedulers": "noop"}
    ways: list[Any] = [trace, [trace], {"file": trace, "name": "named"}]
    for number, traces in enumerate(ways):
        found = idlewise.sweep(traces=traces, **asked, output=tmp_path / str(number)).check().to_pandas()
        assert list(found.requests) == [20]
        assert list(found.trace_device) == ["a"]


def test_what_is_cut_short_is_made_again(tmp_path: Path) -> None:
    asked: dict[str, Any] = {
        "workloads": "random:requests=100",
        "disks": "barracuda",
        "schedulers": "noop",
        "output": tmp_path,
    }
    idlewise.sweep(**asked)
    whole = results(tmp_path)
    (place,) = whole
    (tmp_path / place).write_bytes(whole[place][:-100])
    assert idlewise.sweep(**asked).new == 1
    assert results(tmp_path) == whole


def fails_at_first(folder: str, times: int, goes_on: object) -> str:
    """Fails as a store does that does not answer."""
    tries = Path(folder, "tries")
    tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
    if len(tries.read_text()) <= times:
        raise ConnectionError("no answer")
    return tries.read_text()


def test_what_may_go_otherwise_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engines, "PAUSE", 0.001)
    threads = _engines.Threads(1, 2)
    assert list(threads.each(fails_at_first, [(str(tmp_path), 2)])) == ["xxx"]
    (tmp_path / "tries").unlink()
    with pytest.raises(ConnectionError):
        list(threads.each(fails_at_first, [(str(tmp_path), 3)]))
    threads.close(False)


def test_what_was_ended_early_goes_on(tmp_path: Path) -> None:
    output = tmp_path / "out"
    asked = product(tmp_path) | {"jobs": 1}
    part = idlewise.sweep(**asked, output=output, progress=lambda share, runs: False)
    assert 0 < part.there < 32
    before = results(output)
    rest = idlewise.sweep(**asked, output=output)
    assert (rest.there, rest.new) == (32, 32 - len(before))
    whole = results(output)
    assert before.items() <= whole.items()


def test_the_program_reads_the_same_file_and_gives_the_same_bytes(tmp_path: Path, cli: str) -> None:
    file = tmp_path / "sweep.toml"
    text = """output = "{}"
workloads = ["random:n=4,requests=500"]
disks = ["barracuda", "sata-ssd"]
schedulers = ["deadline", "cfq"]
options = {{queue-size = 64}}
"""
    file.write_text(text.format(tmp_path / "python"))
    assert idlewise.sweep(file).there == 4
    file.write_text(text.format(tmp_path / "program"))
    subprocess.run([cli, "sweep", file], check=True, capture_output=True)
    assert results(tmp_path / "python") == results(tmp_path / "program") != {}


def test_a_dry_run_says_what_it_will_cost(tmp_path: Path) -> None:
    told = idlewise.sweep(**product(tmp_path), output=tmp_path / "out", dry_run=True)
    assert re.sub(r"[^a-z0-9=]+", " ", told.plan) == "4 loads 2 disks 2 schedulers 2 seeds = 32 runs"
    assert told.seconds is not None
    assert told.seconds > 0
    assert "requests/s (" in str(told)
    assert "measured on 8 samples" in str(told)
    one: dict[str, Any] = {"workloads": "random:requests=50", "disks": "barracuda", "schedulers": "noop"}
    assert "measured on 1 sample" in str(idlewise.sweep(**one, output=tmp_path / "out", dry_run=True)).splitlines()
    assert results(tmp_path / "out") == {}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"disks": "baracuda"}, "did you mean 'barracuda'"),
        ({"schedulers": "nop"}, "did you mean 'noop'"),
        ({"workloads": "randum"}, "did you mean 'random'"),
        ({"options": {"queue_sise": 4}}, "did you mean 'queue-size'"),
        ({"engine": "dask"}, "there is no engine 'dask'"),
        ({"traces": {"name": "x"}}, "missing field `file`"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        idlewise.sweep(**product(tmp_path) | change, output=tmp_path / "out")
    assert results(tmp_path / "out") == {}


def test_a_trace_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(idlewise.Error, match=r"nowhere\.csv"):
        idlewise.sweep(**product(tmp_path) | {"traces": "nowhere.csv"}, output=tmp_path / "out")


def test_a_run_that_fails_is_told_and_hinders_no_other(tmp_path: Path) -> None:
    found = idlewise.sweep(
        workloads="random:requests=100",
        disks="md5:n=3,of=barracuda",
        schedulers=["noop", "auto-matrix"],
        output=tmp_path / "out",
    )
    assert found.there == 1
    assert len(found.failed) == 1
    assert "auto-matrix" in found.failed[0][0]
    assert len(found.to_arrow()) == 1
    with pytest.raises(idlewise.Error, match=r"1 of 2 runs failed:\n  .*auto-matrix"):
        found.check()


@pytest.fixture(scope="module")
def store() -> Iterator[dict[str, Any]]:
    """A server of S3's kind on this machine, with a bucket."""
    server = pytest.importorskip("moto.server", reason="no moto (pip install 'moto[server]')")
    s3fs = pytest.importorskip("s3fs", reason="no s3fs")
    running = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    storage = {"key": "k", "secret": "s", "endpoint_url": f"http://{host}:{port}"}
    s3fs.S3FileSystem(**storage).mkdir("bucket")
    yield storage
    running.stop()


@pytest.mark.parametrize("engine", ["local", pytest.param("ray", marks=on_ray)])
def test_traces_and_results_lie_in_an_object_store(tmp_path: Path, store: dict[str, Any], engine: str) -> None:
    asked = product(tmp_path)
    idlewise.sweep(**asked, output=tmp_path / "out")
    import s3fs

    files = s3fs.S3FileSystem(**store)
    files.put_file(str(asked["traces"][0]["file"]), "bucket/web.csv")
    there = asked | {"traces": [{"file": "s3://bucket/web.csv", "name": "web"}], "storage_options": store}
    there |= {"output": f"s3://bucket/{engine}", "cache": tmp_path / "cache", "engine": engine, "jobs": 2}
    found = idlewise.sweep(**there)
    assert (found.there, found.new, found.failed) == (32, 32, [])
    base = f"bucket/{engine}/"
    stored = {path.removeprefix(base): files.cat_file(path) for path in files.find(base) if "/_work/" not in path}
    assert stored == results(tmp_path / "out")
    assert len(found.to_arrow()) == 32
    shutil.rmtree(tmp_path / "cache")
    again = idlewise.sweep(**there)
    assert (again.there, again.new) == (32, 0)
    told = idlewise.sweep(**there | {"seeds": 3}, dry_run=True)
    assert told.there == 32
    assert told.seconds is not None


def test_a_cache_keeps_no_more_than_it_may(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="no fsspec")
    import fsspec

    memory = fsspec.filesystem("memory")
    names = [f"memory://cached/{number}" for number in range(4)]
    for name in names:
        memory.pipe_file(name.removeprefix("memory:/"), name.encode() * 10)
    cache = Cache(str(tmp_path / "cache"), 600)
    with cache.fetched(names[0], {}) as first:
        for name in names[1:]:
            with cache.fetched(name, {}) as file:
                assert file.read_bytes() == name.encode() * 10
        assert first.exists(), "what is in use stays"
    kept = [file for file in (tmp_path / "cache").iterdir() if file.suffix != ".lock"]
    assert len(kept) < 4
