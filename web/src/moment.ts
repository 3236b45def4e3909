// One instant of a recording: who waits, where the head is, what was decided last.

import type { Recording } from './recording';

/** What the disk does. */
export interface Head {
  /** From 0, the outermost track, to 1. */
  radius: number;
  /** The address that the head is over, or on its way to. */
  address: number;
  /** The request that is served, if one is. */
  request: number | undefined;
  phase: 'idle' | 'seek' | 'rotation' | 'transfer' | 'other';
}

export class Moment {
  at = 0;
  /** Requests that have arrived and are not done, in order of arrival. */
  outstanding: number[] = [];
  private arrived = 0;

  constructor(readonly recording: Recording) {}

  /** Moves to another instant. */
  move(at: number): void {
    const { arrived, done } = this.recording;
    if (at < this.at) {
      this.arrived = 0;
      this.outstanding = [];
    }
    this.at = at;
    const upTo = arrived.upTo(at);
    const still = this.outstanding.filter((request) => done.get(request) > at);
    for (let request = this.arrived; request < upTo; request++) {
      if (done.get(request) > at) still.push(request);
    }
    this.arrived = upTo;
    this.outstanding = still;
  }

  isWaiting(request: number): boolean {
    return this.recording.dispatched.get(request) > this.at;
  }

  /** The longest time that anybody has waited so far, those included who still wait. */
  longestWait(): number {
    const { figures, issued } = this.recording;
    const done = figures.at.upTo(this.at);
    const longest = done ? figures.longest.get(done - 1) : 0;
    const oldest = this.outstanding.length ? this.at - issued.get(this.outstanding[0]) : 0;
    return Math.max(longest, oldest);
  }

  /** A running figure; 0 before the first completion. */
  figure(name: 'bytes' | 'p99'): number {
    const { figures } = this.recording;
    const done = figures.at.upTo(this.at);
    return done ? figures[name].get(done - 1) : 0;
  }

  /** Bytes that a process has got. */
  bytesOf(process: number): number {
    const share = this.recording.shares.get(process);
    const done = share?.at.upTo(this.at) ?? 0;
    return done ? share!.bytes.get(done - 1) : 0;
  }

  /** How many decisions were made by now. */
  decisions(): number {
    return this.recording.decidedAt.upTo(this.at);
  }

  /** Where the head is. A command's overhead comes first, then seek, rotation and transfer. */
  head(): Head {
    const { moved, command, radius, start } = this.recording;
    const next = moved.at.upTo(this.at);
    const before = next ? command.request.get(moved.command.get(next - 1)) : undefined;
    const rest: Head = {
      radius: before === undefined ? 0 : radius.get(before),
      address: before === undefined ? 0 : start.get(before),
      request: undefined,
      phase: 'idle',
    };
    if (next >= moved.at.length) return rest;
    const row = moved.command.get(next);
    if (this.at < command.started.get(row)) return rest;
    const request = command.request.get(row);
    const transfers = command.at.get(row) - command.transfer.get(row);
    const turns = transfers - command.rotation.get(row);
    const seeks = Math.max(command.started.get(row), turns - command.seek.get(row));
    if (this.at < seeks) return { ...rest, request, phase: 'other' };
    if (this.at < turns) {
      const part = smooth((this.at - seeks) / Math.max(1, turns - seeks));
      const between = (from: number, to: number): number => from + (to - from) * part;
      return {
        radius: between(rest.radius, radius.get(request)),
        address: between(rest.address, start.get(request)),
        request,
        phase: 'seek',
      };
    }
    const phase = this.at < transfers ? 'rotation' : 'transfer';
    return { radius: radius.get(request), address: start.get(request), request, phase };
  }
}

/** An arm speeds up and slows down. */
function smooth(part: number): number {
  return part * part * (3 - 2 * part);
}
