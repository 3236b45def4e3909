// What happened in a run, as the simulator told it, so that any instant of it can be shown. The head of
// crates/wasm/src/frames.rs says what rows are. Times are nanoseconds.

import { Column } from './columns';
import { Latencies } from './latencies';

/** A decision of the scheduler. */
export interface Decision {
  at: number;
  /** What it sends to the disk; without it, the scheduler waits until `until`. */
  request: number | undefined;
  /** Where that begins and how long it is, with all that was merged into it. */
  start: number;
  sectors: number;
  until: number;
  reason: string;
}

/** What a process has got: bytes, and the disk's time. */
export interface Share {
  at: Column;
  bytes: Column;
  servedAt: Column;
  time: Column;
}

function share(): Share {
  return { at: new Column(), bytes: new Column(), servedAt: new Column(), time: new Column() };
}

/** The numbers in a row, by kind, the kind included. */
const LENGTHS = [0, 10, 3, 9, 4, 7, 2];

const WAITING = Infinity;

export class Playback {
  /** Requests, in order of arrival. */
  readonly arrived = new Column();
  readonly issued = new Column();
  readonly dispatched = new Column();
  readonly done = new Column();
  readonly process = new Column();
  readonly operation = new Column();
  readonly start = new Column();
  readonly sectors = new Column();
  readonly radius = new Column();
  readonly angle = new Column();

  /** Commands, in the order in which the disk finished them. */
  readonly command = {
    at: new Column(),
    started: new Column(),
    seek: new Column(),
    rotation: new Column(),
    transfer: new Column(),
    cached: new Column(),
    request: new Column(),
  };

  /** The same for commands that moved the head. */
  readonly moved = { at: new Column(), command: new Column() };

  /** Running figures after each completion. */
  readonly figures = { at: new Column(), bytes: new Column(), p99: new Column(), longest: new Column() };

  /** What each process has got after each of its completions, and after each of its commands. */
  readonly shares = new Map<number, Share>();

  readonly decisions: Decision[] = [];
  readonly decidedAt = new Column();
  /** When the disk was left idle although requests waited, and until when. */
  readonly idle = { from: new Column(), to: new Column() };

  /** Until when everything is known. */
  known = 0;
  private readonly byId: number[] = [];
  private readonly latencies = new Latencies();
  private readonly reasons: string[] = [];
  private nextReason = 0;
  private idling = false;

  addReasons(text: string): void {
    // The last line ends, too.
    this.reasons.push(...text.split('\n').slice(0, -1));
  }

  addRows(rows: Float64Array): void {
    for (let at = 0; at < rows.length; at += LENGTHS[rows[at]]) this.addRow(rows, at);
    // Texts that belong to decisions now need not be kept twice.
    this.reasons.splice(0, this.nextReason);
    this.nextReason = 0;
  }

  private addRow(rows: Float64Array, at: number): void {
    const now = rows[at + 1];
    this.known = Math.max(this.known, now);
    switch (rows[at]) {
      case 1:
        return this.arrival(now, rows, at);
      case 2:
        this.dispatched.set(this.byId[rows[at + 2]], now);
        return this.idleUntil(now);
      case 3:
        return this.served(now, rows, at);
      case 4:
        return this.completion(now, this.byId[rows[at + 2]], this.byId[rows[at + 3]]);
      case 5:
        return this.decision(now, rows, at);
      case 6:
        if (!this.idling) {
          this.idle.from.push(now);
          this.idle.to.push(WAITING);
          this.idling = true;
        }
    }
  }

  private arrival(now: number, rows: Float64Array, at: number): void {
    this.byId[rows[at + 2]] = this.arrived.length;
    this.arrived.push(now);
    this.dispatched.push(WAITING);
    this.done.push(WAITING);
    const columns = [this.issued, this.process, this.operation, this.start, this.sectors, this.radius, this.angle];
    columns.forEach((column, place) => column.push(rows[at + 3 + place]));
    const process = rows[at + 4];
    if (!this.shares.has(process)) this.shares.set(process, share());
  }

  private idleUntil(now: number): void {
    if (this.idling) this.idle.to.set(this.idle.to.length - 1, now);
    this.idling = false;
  }

  private served(now: number, rows: Float64Array, at: number): void {
    const [, , id, started, seek, rotation, transfer, , cached] = rows.subarray(at, at + 9);
    const command = this.command;
    if (!cached) {
      this.moved.at.push(now);
      this.moved.command.push(command.at.length);
    }
    command.at.push(now);
    command.started.push(started);
    command.seek.push(seek);
    command.rotation.push(rotation);
    command.transfer.push(transfer);
    command.cached.push(cached);
    command.request.push(this.byId[id]);
    const own = this.shares.get(this.process.get(this.byId[id]))!;
    own.servedAt.push(now);
    own.time.push(own.time.last(0) + now - started);
  }

  private completion(now: number, request: number, inside: number): void {
    this.done.set(request, now);
    // What was merged went to the disk with the request that took it in.
    if (this.dispatched.get(request) === WAITING) this.dispatched.set(request, this.dispatched.get(inside));
    if (this.operation.get(request) > 1) return;
    const bytes = this.sectors.get(request) * 512;
    const latency = now - this.issued.get(request);
    this.latencies.add(latency);
    const { figures } = this;
    figures.at.push(now);
    figures.bytes.push(figures.bytes.last(0) + bytes);
    const longest = Math.max(figures.longest.last(0), latency);
    figures.longest.push(longest);
    figures.p99.push(Math.min(longest, this.latencies.quantile(0.99)));
    const own = this.shares.get(this.process.get(request))!;
    own.at.push(now);
    own.bytes.push(own.bytes.last(0) + bytes);
  }

  private decision(at: number, rows: Float64Array, row: number): void {
    const [kind, what, start, sectors, explained] = rows.subarray(row + 2, row + 7);
    const reason = explained ? this.reasons[this.nextReason++] : '';
    const request = kind === 1 ? this.byId[what] : undefined;
    this.decisions.push({ at, request, start, sectors, until: kind === 2 ? what : at, reason });
    this.decidedAt.push(at);
  }
}
