// A histogram of latencies, exact to 1 part in 100: what the running p99 is read from. The figures at the end are the
// report's own.

const STEPS = 100;
const PLACES = 4000;

export class Latencies {
  private readonly counts = new Uint32Array(PLACES);
  private count = 0;
  private greatest = 0;

  add(ns: number): void {
    const place = Math.min(PLACES - 1, Math.max(0, Math.round(Math.log(Math.max(1, ns)) * STEPS)));
    this.counts[place]++;
    this.count++;
    this.greatest = Math.max(this.greatest, place);
  }

  /** The latency that this share of requests did not exceed. */
  quantile(share: number): number {
    let above = Math.floor(this.count * (1 - share));
    let place = this.greatest;
    while (place > 0 && above >= this.counts[place]) above -= this.counts[place--];
    return Math.exp(place / STEPS);
  }
}
