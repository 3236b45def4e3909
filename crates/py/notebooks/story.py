"""The papers' story: what a seek costs, the elevator, deceptive idleness, chains, shares. A notebook of marimo's."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="Disk schedulers: the papers' story")


@app.cell
def _():
    import idlewise
    import marimo as mo

    DISK = "maxtor-40g"
    return DISK, idlewise, mo


@app.cell
def _(DISK, idlewise, mo):
    seeks = idlewise.Disk(DISK).profile()["kind"]
    mo.md(
        f"""
        # What a seek costs

        The disk is a {DISK}. One revolution takes {seeks["revolution_ns"] / 1e6:.1f} ms and a mean seek
        {seeks["seek_mean_ns"] / 1e6:.1f} ms. In that time the medium could have moved
        {seeks["seek_mean_ns"] * seeks["sequential_bytes_per_s"] / 1e15:.2f} MB: who goes to and fro reads little.
        """
    )
    return (seeks,)


@app.cell
def _(DISK, idlewise, mo):
    elevator = idlewise.compare(
        workload="random:n=32,requests=100",
        disk=idlewise.Disk(DISK, depth=1),
        schedulers=["noop", "c-look", "sptf"],
    )
    in_order, by_address, by_time = elevator.summary.values("throughput_bytes_per_s")
    elevator_gain = by_address / in_order
    mo.md(
        f"""
        # The elevator

        32 processes read at random. By address (`c-look`) the disk reads {elevator_gain:.1f} times as much as in order
        of arrival (`noop`), by positioning time (`sptf`) {by_time / in_order:.1f} times.
        """
    )
    return elevator, elevator_gain


@app.cell
def _(elevator):
    elevator.plot()
    return


@app.cell
def _(DISK, idlewise, mo):
    readers = idlewise.compare(
        workload="sync-streams:n=2",
        disk=DISK,
        schedulers=["noop", "c-look", "antic-sptf"],
        duration="20s",
    )
    _, without, with_it = readers.summary.values("throughput_bytes_per_s")
    anticipation_gain = with_it / without
    mo.md(
        f"""
        # Deceptive idleness

        Two processes each read a file from its beginning to its end, a block at a time. When a block is there, its
        process has not asked for the next one yet: it had no time. So the scheduler turns to the other process, far
        away. It has no choice, whatever its rule: there is one request.

        Anticipation (Iyer and Druschel, SOSP'01) lets the disk idle for a moment instead, because the better request
        is about to come. It gains {anticipation_gain:.1f} times here. The papers' claims, one by one, are in
        `docs/papers.md`.
        """
    )
    return anticipation_gain, readers


@app.cell
def _(readers):
    readers.plot()
    return


@app.cell
def _(DISK, idlewise, mo):
    chain = idlewise.compare(
        workload="stream-and-chain:stream=200m",
        disk=DISK,
        schedulers=["as-2.6.11", "cas"],
    )
    slow, fast = chain.summary.values("elapsed_ns")
    chain_gain = slow / fast
    mo.md(
        f"""
        # The starved chain

        `find -exec cat {{}} ;` starts a process for each file. Who waits for the last process waits in vain: it is
        gone. Beside a large sequential read the chain starves under Linux 2.6's anticipatory scheduler. `cas` (OLS'05)
        knows that the next process of the chain reads nearby, and ends {chain_gain:.1f} times sooner.
        """
    )
    return chain, chain_gain


@app.cell
def _(chain):
    chain.plot("elapsed_ns")
    return


@app.cell
def _(DISK, idlewise, mo):
    shares = idlewise.compare(
        workload="sync-streams:n=2,weights=100:300",
        disk=DISK,
        schedulers=["stride", "antic-stride"],
        duration="5s",
    )
    rows = zip(*(shares.processes.values(name) for name in ("scheduler", "id", "service_ns")), strict=True)
    served = {(scheduler, process): time for scheduler, process, time in rows}
    plain, patient = (served[name, 2] / served[name, 1] for name in shares.schedulers)
    mo.md(
        f"""
        # Shares

        The second process is to have three times as much of the disk's time. Stride scheduling gives it
        {plain:.1f} times as much: it cannot choose who has no request. With anticipation around it, it is
        {patient:.1f} times.
        """
    )
    return patient, plain


if __name__ == "__main__":
    app.run()
