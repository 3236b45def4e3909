"""Every notebook runs, and shows what it says; so do the examples of the manuals."""

import importlib.util
import re
from typing import Any

import pytest
from conftest import ROOT

NOTEBOOKS = ROOT / "crates" / "py" / "notebooks"


def run(name: str) -> Any:
    """What the notebook's cells define."""
    pytest.importorskip("matplotlib").use("agg")
    spec = importlib.util.spec_from_file_location(name, NOTEBOOKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, defined = module.app.run()
    return defined


def test_the_papers_story() -> None:
    told = run("story")
    assert told["elevator_gain"] > 1.3
    assert told["anticipation_gain"] > 3
    assert told["chain_gain"] > 3
    assert told["plain"] < 1.5
    assert told["patient"] == pytest.approx(3, rel=0.2)


def test_picking_a_scheduler_for_a_trace() -> None:
    told = run("pick")
    assert told["result"].verdict
    assert told["by_process"]["count"].sum() == told["trace"].to_arrow().num_rows
    assert told["table"].shape == (10, 5)


def test_a_scheduler_of_your_own() -> None:
    result = run("own")["result"]
    noop, theirs, fifo, nearest, patient = result.summary.values("throughput_bytes_per_s")
    assert fifo == noop
    assert patient > 1.5 * nearest
    assert theirs > noop


def test_there_is_a_test_for_every_notebook() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.py")) == ["own", "pick", "story"]


MANUALS = ["README.md", "docs/python.md", "crates/py/README.md"]


@pytest.mark.parametrize("manual", MANUALS)
def test_examples_work_as_written(manual: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    examples = re.findall(r"```python\n(.*?)```", (ROOT / manual).read_text(), re.DOTALL)
    assert examples
    (tmp_path / "traces").symlink_to(ROOT / "traces")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for example in examples:
        exec(compile(example, manual, "exec"), names)
