"""Pick a scheduler for a trace. A notebook of marimo's: give it a trace of yours."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Which scheduler for this trace?")


@app.cell
def _():
    from pathlib import Path

    import idlewise
    import marimo as mo

    # A trace of yours: `idlewise record /dev/sda --for 60s` makes one.
    TRACE = Path(__file__).resolve().parents[3] / "traces" / "demo.ftrace.zst"
    # The disk that it is of; None lets idlewise find one that fits.
    DISK = "maxtor-40g"
    return DISK, TRACE, idlewise, mo


@app.cell
def _(TRACE, idlewise, mo):
    trace = idlewise.Trace(TRACE)
    info = trace.info()
    mo.md(
        f"""
        # What was asked for

        `{TRACE.name}` has {info["reads"]["requests"]:,} reads and {info["writes"]["requests"]:,} writes.
        """
    )
    return info, trace


@app.cell
def _(trace):
    by_process = trace.to_polars()["process"].value_counts(sort=True)
    by_process
    return (by_process,)


@app.cell
def _(DISK, TRACE, idlewise):
    result = idlewise.compare(trace=TRACE, disk=DISK, schedulers=["linux", "turns", "antic-sptf"])
    return (result,)


@app.cell
def _(mo, result):
    mo.md(f"# The verdict\n\n{result.verdict}\n\nTo repeat it: `{result.command}`\n\n" + "\n".join(result.notes))
    return


@app.cell
def _(result):
    result.plot("read.latency_ns.mean")
    return


@app.cell
def _(result):
    columns = ["scheduler", "elapsed_ns", "throughput_bytes_per_s", "read.latency_ns.mean", "read.observed_ns_p99"]
    table = result.to_polars().select(columns).sort("elapsed_ns")
    table
    return (table,)


if __name__ == "__main__":
    app.run()
