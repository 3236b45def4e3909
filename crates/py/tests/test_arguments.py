"""What arguments take, what is said of others, and that every option of the program is a keyword."""

import inspect
import sys
from pathlib import Path
from typing import Any

import idlewise
import numpy
import pytest
from conftest import Fifo
from idlewise import _native

SMALL: dict[str, Any] = {"workload": "random:n=2,requests=20", "disk": "maxtor-40g", "schedulers": "noop"}
SWEPT: dict[str, Any] = {"workloads": "random:requests=20", "disks": "maxtor-40g", "schedulers": "noop"}

OF_RESULTS = {"json", "csv", "csv_processes", "csv_series"}
"""Options that say where the program writes its results, which are methods here."""


def test_every_option_is_a_keyword() -> None:
    keywords = set(inspect.signature(idlewise.compare).parameters)
    assert {keyword for _, keyword, _, _ in _native.options()} - OF_RESULTS == keywords - {"weights", "progress"}
    documented = inspect.getdoc(idlewise.compare) or ""
    assert all(f"    {keyword}: " in documented for keyword in keywords)


def test_options_of_selectors_reach_the_runs() -> None:
    asked = SMALL | {"schedulers": "auto-predict", "switching": "drain", "model": "hdd-18tb-7200"}
    command = idlewise.compare(**asked, candidates=["noop", idlewise.schedulers()["deadline"]]).command
    assert command is not None
    for word in ["--switching=drain", "--model=hdd-18tb-7200", "--candidates=noop --candidates=deadline"]:
        assert word in command
    with pytest.raises(idlewise.Error, match="nowhere"):
        idlewise.compare(**SMALL | {"schedulers": "auto-matrix"}, matrix="/nowhere")
    with pytest.raises(idlewise.Error, match="nowhere"):
        idlewise.compare(**SMALL | {"schedulers": "auto-ranking"}, ranking="/nowhere")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"seeds": "3"}, TypeError, "^seeds takes how many there are, or a list of them, not '3'$"),
        ({"seeds": 2.5}, TypeError, "^seeds takes"),
        ({"seeds": [1, "2"]}, TypeError, "^seeds takes a whole number, 0 or more, not '2'$"),
        ({"seeds": 0}, ValueError, "^seeds takes a whole number, 1 or more, not 0$"),
        ({"workload": 5}, TypeError, "^workload takes text, not 5$"),
        ({"trace": 5, "workload": None}, TypeError, "^trace takes text or a path, not 5$"),
        ({"queue_size": 2.5}, TypeError, r"^queue_size takes a whole number, not 2\.5$"),
        ({"queue_size": 0}, ValueError, r"^queue_size: 0 is not in 1\.\.=1048576$"),
        ({"max_requests": -5}, ValueError, "^max_requests: '-5' is no whole number, or one that is too small"),
        ({"speed": "2"}, TypeError, "^speed takes a number, not '2'$"),
        ({"duration": 5}, TypeError, '^duration takes a time, such as "30s"'),
        ({"open_loop": 1}, TypeError, "^open_loop takes True or False, not 1$"),
        ({"merges": "no"}, TypeError, "^merges takes True or False, not 'no'$"),
        ({"goal": "speed"}, ValueError, "^goal: there is no 'speed' .there are: .*throughput"),
        ({"trace": "x"}, ValueError, "^(workload and trace|trace and workload): give one of them, not both$"),
        ({"progress": 5}, TypeError, "^progress takes a function, not 5$"),
        ({"settings_of": {"noop": 3}}, TypeError, "^settings_of noop takes a dictionary, not 3$"),
        ({"weights": {1: None}}, TypeError, "^weights takes a whole number"),
        ({"schedulers": 5}, TypeError, "^schedulers takes one, or a list of them, not 5$"),
        (
            {"weights": {1: 10**9}},
            ValueError,
            r"^weights: weight\.1=1000000000: a weight is a whole number from 1 to 10000",
        ),
        ({"workload": "random:n=0"}, ValueError, "^workload: n=0: "),
        ({"seeds": [2**64 - 2, 2**64 - 1, 2**64]}, ValueError, "^seeds: 3 runs from 18446744073709551614 on go beyond"),
        ({"disk": "nope"}, ValueError, r"`idlewise\.disks\(\)` names them all"),
    ],
)
def test_what_is_wrong_is_named(wrong: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        idlewise.compare(**SMALL | wrong)


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"seeds": [-1]}, ValueError, "^seeds takes a whole number, 0 or more, not -1$"),
        ({"disks": None}, ValueError, "disks: name one or more"),
        ({"disks": 5}, TypeError, "^disks takes one, or a list of them, not 5$"),
        ({"traces": [5]}, TypeError, "^traces takes text or a path, not 5$"),
        ({"jobs": "2"}, TypeError, "^jobs takes a whole number, 1 or more, not '2'$"),
        ({"retries": -1}, ValueError, "^retries takes a whole number, 0 or more, not -1$"),
        (
            {"options": {"nothing": 1}},
            ValueError,
            r"no option 'nothing' \(`help\(idlewise\.compare\)` names them all\)$",
        ),
        ({"options": {"queue_size": "4"}}, TypeError, "^options: queue_size takes a whole number, not '4'$"),
        ({"options": {"queue_size": 0}}, ValueError, r"^options: queue_size: 0 is not in 1\.\.=1048576$"),
        ({"schedulers": Fifo}, TypeError, "^schedulers: Fifo is a scheduler of your own, which a sweep does not run"),
    ],
)
def test_what_is_wrong_with_a_sweep_is_named(
    tmp_path: Path, wrong: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        idlewise.sweep(**SWEPT | wrong, output=tmp_path / "out")


def test_a_long_value_is_not_told_in_full() -> None:
    with pytest.raises(TypeError, match=r"^workload takes text, not ") as raised:
        idlewise.compare(**SMALL | {"workload": list(range(10**5))})
    assert len(str(raised.value)) < 100


def test_true_and_false_of_numpy() -> None:
    asked = SMALL | {"schedulers": "deadline"}
    asked["settings_of"] = {"deadline": {"front_merges": numpy.True_}}
    found = idlewise.compare(**asked | {"merges": numpy.False_})
    assert found.command is not None
    assert "--no-merges" in found.command
    assert "--set=deadline.front_merges=on" in found.command
    stopped = idlewise.compare(**asked | {"workload": "random:n=8,requests=10000000"}, progress=lambda *_: numpy.False_)
    assert stopped.interrupted


def test_none_is_not_given(tmp_path: Path) -> None:
    parameters = inspect.signature(idlewise.compare).parameters
    nothing = dict.fromkeys(parameters, None)
    assert idlewise.compare(**nothing | SMALL).json()["results"] == idlewise.compare(**SMALL).json()["results"]
    assert idlewise.Disk("maxtor-40g", depth=None).name == "maxtor-40g"
    found = idlewise.sweep(**SWEPT, output=tmp_path, seeds=None, options={"max_requests": None})
    assert found.there == 1
    assert found.to_arrow()["options"].to_pylist() == [""]


def test_entries_of_lists_are_their_names(tmp_path: Path) -> None:
    noop, workload = idlewise.schedulers()["noop"], idlewise.workloads()["random"]
    asked = SMALL | {"schedulers": [noop, "deadline"], "workload": workload, "max_requests": 20}
    result = idlewise.compare(**asked)
    assert result.schedulers == ["noop", "deadline"]
    asked = {"schedulers": noop, "workloads": workload, "disks": idlewise.Disk("maxtor-40g")}
    options = {"max_requests": 20, "merges": False, "weights": {1: 300}}
    assert idlewise.sweep(**asked, output=tmp_path, options=options).check().there == 1


def test_numbers_of_rows_and_times(demo: Path) -> None:
    for rows in (0, -1):
        with pytest.raises(ValueError, match=f"^rows takes a whole number, 1 or more, not {rows}$"):
            idlewise.Trace(demo).batches(rows)
    with pytest.raises(
        ValueError, match=r"^rows takes a whole number, 1 to 9223372036854775807, not 9223372036854775808$"
    ):
        idlewise.Trace(demo).batches(2**63)
    for time, error in ((-1, ValueError), (2**64, ValueError), (1.5, TypeError), ("1", TypeError)):
        with pytest.raises(error, match=r"^time takes whole nanoseconds of the run, 0 or more, not"):
            idlewise.WaitUntil(time)  # type: ignore[arg-type]


def test_a_sweep_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = idlewise.sweep(**SWEPT, output=tmp_path)
    assert found.to_polars().shape[0] == len(found.to_pandas()) == 1
    for module, turn in (("pandas", found.to_pandas), ("polars", found.to_polars), ("pyarrow", found.to_arrow)):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, module, None)
            with pytest.raises(ImportError, match=r"pip install 'idlewise\["):
                turn()
