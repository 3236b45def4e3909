"""Design a scheduler of your own. A notebook of marimo's: change the class, and see what comes of it."""

import marimo

__generated_with = "0.25.2"
app = marimo.App(width="medium", app_title="A scheduler of your own")


@app.cell
def _():
    import collections

    import idlewise
    import marimo as mo

    return collections, idlewise, mo


@app.cell
def _(mo):
    mo.md(
        """
        # First come, first served

        A scheduler is a class with `insert` and `dispatch`. It is given requests, and asked for one whenever the disk
        has room. `help(idlewise.Scheduler)` has all methods, and `help(idlewise.Request)` what a request tells.
        """
    )
    return


@app.cell
def _(collections, idlewise):
    class Fifo(idlewise.Scheduler):
        def __init__(self):
            self.waiting = collections.deque()

        def insert(self, now, request):
            self.waiting.append(request)

        def dispatch(self, now):
            return self.waiting.popleft() if self.waiting else None

    return (Fifo,)


@app.cell
def _(mo):
    mo.md(
        """
        # Nearest first, and patience

        `Nearest` takes the request nearest to where the last one ended. `Patient` does so too, but waits a little for
        the process that was served last: it may be about to ask for what comes next. `WaitUntil` says how long.
        """
    )
    return


@app.cell
def _(idlewise):
    class Nearest(idlewise.Scheduler):
        def __init__(self):
            self.waiting, self.head = [], 0

        def insert(self, now, request):
            self.waiting.append(request)

        def dispatch(self, now):
            request = min(self.waiting, key=lambda other: abs(other.start - self.head))
            self.waiting.remove(request)
            self.head = request.end
            return request

    class Patient(Nearest):
        PATIENCE = 4_000_000  # ns

        def __init__(self):
            super().__init__()
            self.last, self.until = None, 0

        def complete(self, now, request):
            self.last, self.until = request.issuer, now + self.PATIENCE

        def dispatch(self, now):
            if now < self.until and all(request.issuer != self.last for request in self.waiting):
                return idlewise.WaitUntil(self.until)
            return super().dispatch(now)

    return Nearest, Patient


@app.cell
def _(Fifo, Nearest, Patient, idlewise):
    result = idlewise.compare(
        workload="sync-streams:n=3",
        disk="maxtor-40g",
        schedulers=["noop", "antic-sptf", Fifo, Nearest, Patient],
        duration="10s",
        merges=False,
    )
    result.plot()
    return (result,)


@app.cell
def _(mo, result):
    mo.md(result.verdict)
    return


@app.cell
def _(mo):
    mo.md(
        """
        # And then

        Nearest first is unfair to who is far away: look at `longest_wait_ns` of `random:n=64`. When the idea holds,
        write it in Rust (`CONTRIBUTING.md` has the steps): it is then as fast as the others, is held to every
        invariant, and runs in the Linux kernel.
        """
    )
    return


if __name__ == "__main__":
    app.run()
