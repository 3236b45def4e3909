// The virtual clock of both panes.

export class Clock {
  /** Simulated time, in nanoseconds. */
  at = 0;
  /** Simulated time that passes in a second. */
  speed = 0.02;
  playing = false;
  private before: number | undefined;

  /** Lets time pass until the page's time `now`, in milliseconds, but not beyond `limit`. True if it moved. */
  tick(now: number, limit: number): boolean {
    const passed = this.before === undefined ? 0 : now - this.before;
    this.before = this.playing ? now : undefined;
    if (!this.playing) return false;
    const from = this.at;
    // After the page was hidden, time goes on where it was.
    this.at = Math.min(limit, this.at + Math.min(passed, 100) * 1e6 * this.speed);
    return this.at !== from;
  }
}
