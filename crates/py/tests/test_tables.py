"""Tables, traces and disks: Arrow's interface, without copies."""

import re
from pathlib import Path
from typing import Any

import idlewise
import polars
import pyarrow
import pytest
from conftest import ROOT

ROWS = 10_000_000


def addresses(table: Any) -> list[list[int]]:
    """Where the buffers of a table of pyarrow's lie."""
    chunks = [chunk for column in table.columns for chunk in column.chunks]
    return [[buffer.address for buffer in chunk.buffers() if buffer is not None] for chunk in chunks]


def test_ten_million_rows_go_round_without_a_copy() -> None:
    columns = {
        "arrival_ns": pyarrow.chunked_array([pyarrow.repeat(pyarrow.scalar(5), ROWS // 2)] * 2),
        "share": pyarrow.chunked_array([pyarrow.repeat(0.5, ROWS // 2)] * 2),
        "word": pyarrow.chunked_array([pyarrow.repeat("read", ROWS // 2)] * 2),
    }
    source = pyarrow.table(columns)
    assert source.num_rows == ROWS
    before = pyarrow.total_allocated_bytes()
    table = idlewise.Table.from_arrow(source)
    back = table.to_arrow()
    assert len(table) == ROWS
    assert table.columns == ["arrival_ns", "share", "word"]
    assert addresses(back) == addresses(source)
    # What describes the table is small.
    assert pyarrow.total_allocated_bytes() - before < 100_000
    # The memory lives on in whoever has it last.
    del source, columns, table
    assert back["word"][ROWS - 1].as_py() == "read"


def test_tables_of_others_come_in() -> None:
    frame = polars.DataFrame({"start": [1, 2, None], "word": ["a", None, "c"]})
    table = idlewise.Table.from_arrow(frame)
    assert table.to_polars().equals(frame)
    with pytest.raises(TypeError, match="no table"):
        idlewise.Table.from_arrow(3)
    with pytest.raises(TypeError, match="for a library"):
        idlewise.Table.from_arrow(polars.DataFrame({"x": [[1], [2]]})).values("x")
    with pytest.raises(KeyError):
        table.values("nope")


def test_values_of_every_kind() -> None:
    whole = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    kinds = {kind: [3, None] for kind in [*whole, "float32", "float64"]}
    words = {kind: ["x", None] for kind in ["string", "large_string", "string_view"]}
    columns = {kind: pyarrow.array(values, getattr(pyarrow, kind)()) for kind, values in (kinds | words).items()}
    table = idlewise.Table.from_arrow(pyarrow.table(columns))
    assert {name: table.values(name) for name in table.columns} == kinds | words


def test_an_error_of_who_hands_a_table_over_is_his() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise LookupError("no rows today")

    with pytest.raises(LookupError, match="no rows today"):
        idlewise.Table.from_arrow(Broken())


def test_all_rows_are_one_batch(demo: Path) -> None:
    trace = idlewise.Trace(demo)
    assert [len(batch) for batch in trace.batches(10**12)] == [trace.to_arrow().num_rows]


def test_a_trace_is_batches(demo: Path) -> None:
    trace = idlewise.Trace.open(demo)
    info = trace.info()
    batches = list(trace.batches(1000))
    assert [len(batch) for batch in batches[:-1]] == [1000] * (len(batches) - 1)
    whole = trace.to_arrow()
    assert whole.num_rows == sum(map(len, batches)) == sum(map(len, trace))
    assert whole.schema.field("start").metadata[b"unit"] == b"sectors"
    reader = pyarrow.RecordBatchReader.from_stream(trace)
    assert sum(batch.num_rows for batch in reader) == whole.num_rows
    frame = trace.to_polars()
    assert frame.shape[0] == len(trace.to_pandas()) == whole.num_rows
    assert frame["arrival_ns"].is_sorted()
    assert frame.filter(polars.col("operation") == "read").shape[0] == info["reads"]["requests"]
    assert "sqlite3" in set(frame["process"].drop_nulls())


def test_a_trace_is_converted(demo: Path, tmp_path: Path) -> None:
    trace = idlewise.Trace(demo)
    own = trace.convert(tmp_path / "own.csv.gz")
    assert own.to_polars().equals(trace.to_polars())
    with pytest.raises(idlewise.Error, match="force"):
        trace.convert(tmp_path / "own.csv.gz")
    assert trace.convert(tmp_path / "own.csv.gz", force=True).info()["sha256"] == own.info()["sha256"]
    with pytest.raises(ValueError, match="no trace format 'nope'"):
        trace.convert(tmp_path / "x", to="nope")


def test_a_trace_that_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "broken.csv"
    rows = "".join(f"{at},R,{at * 8},8\n" for at in range(50_000))
    path.write_text(f"arrival_ns,operation,start,sectors\n{rows}oh,R,8,8\n")
    batches = idlewise.Trace(path).batches(100)
    assert len(next(batches)) == 100
    with pytest.raises(idlewise.Error, match=r"broken\.csv:50002"):
        list(batches)
    assert sum(map(len, idlewise.Trace(path, lenient=True))) == 50_000
    with pytest.raises(idlewise.Error, match="nowhere"):
        idlewise.Trace(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="format 'nope'"):
        idlewise.Trace(path, format="nope")


@pytest.mark.parametrize("turn", ["to_arrow", "to_pandas", "to_polars"])
def test_what_cannot_be_read_is_an_error_of_ours(tmp_path: Path, turn: str) -> None:
    path = tmp_path / "broken.csv"
    rows = "".join(f"{at},R,{at * 8},8\n" for at in range(50_000))
    path.write_text(f"arrival_ns,operation,start,sectors\n{rows}oh,R,8,8\n")
    with pytest.raises(idlewise.Error, match=r"broken\.csv:50002") as raised:
        getattr(idlewise.Trace(path), turn)()
    assert "lenient" in str(raised.value)
    assert "--" not in str(raised.value)


def test_disks() -> None:
    disk = idlewise.Disk("maxtor-40g")
    assert disk.profile()["kind"]["model"] == "mechanical"
    disk.profile().clear()
    assert disk.profile()["kind"]["model"] == "mechanical"
    assert "Maxtor" in disk.show()
    assert "maxtor-40g" in idlewise.disks()
    assert "sync-streams" in idlewise.workloads()
    assert idlewise.Disk("sata-ssd", depth=4).profile()["depth"] == 4
    with pytest.raises(ValueError, match="no disk 'nope'"):
        idlewise.Disk("nope")
    with pytest.raises(ValueError, match="depth"):
        idlewise.Disk("sata-ssd", depth=0)


def test_a_page_shows_a_profile_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    own = (ROOT / "crates" / "disk" / "profiles" / "maxtor-40g.toml").read_text()
    path.write_text(re.sub("^description = .*$", "description = 'a <b>disk'", own, flags=re.MULTILINE))
    disk = idlewise.Disk(path)
    assert "<b>" in disk.show()
    assert "a &lt;b&gt;disk" in disk._repr_html_()


def test_a_disk_is_validated(tmp_path: Path) -> None:
    path = tmp_path / "measured"
    path.write_text("".join(f"R Miss {at * 100_000} 8 {9000 + at} 500\n" for at in range(200)))
    told = idlewise.Disk("maxtor-40g").validate(path)
    assert told["requests"] == 200
    assert told["demerit_share"] > 0
    path.write_text("nonsense\n")
    with pytest.raises(idlewise.Error, match="measured:1"):
        idlewise.Disk("maxtor-40g").validate(path)


def test_a_disk_is_fitted(demo: Path, tmp_path: Path) -> None:
    disk = idlewise.Disk.fit(idlewise.Trace(demo), tmp_path / "own.toml")
    assert disk.report is not None
    assert disk.report["held_out"]["rows"] > 0
    assert idlewise.compare(workload="random:n=2,requests=20", disk=disk, schedulers="noop").summary.values("requests")
    with pytest.raises(idlewise.Error, match="force"):
        idlewise.Disk.fit(demo, tmp_path / "own.toml")
    with pytest.raises(ValueError, match=r"\.toml"):
        idlewise.Disk.fit(demo, tmp_path / "own")
