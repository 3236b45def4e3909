// Runs in workers: what a worker tells becomes a playback and a report.

import { Part } from './module';
import { Playback } from './playback';
import { question, type Wanted } from './wanted';
import type { Answer, Question } from './worker';
import address from './idlewise.wasm?url';

/** The disk and the load, as crates/wasm/src/playing.rs tells them. */
export interface Head {
  disk: string;
  description: string;
  capacity: number;
  depth: number;
  tracks: { period_ns: number; zones: number[] } | null;
  notes: string[];
}

/** What the page shows of a report; the rest goes through as it is. */
export interface Result {
  throughput_bytes_per_s: number;
  longest_wait_ns: number;
  elapsed_ns: number;
  latency_ns: { p99: number };
  issuers: { id: number; name: string | null; weight: number }[];
}

export interface Report {
  result: Result;
  complete: boolean;
  folded: number;
}

export interface Tunable {
  name: string;
  doc: string;
  unit: string;
  default: number;
  min: number;
  max: number;
  words: string[];
  seed: boolean;
}

export interface SchedulerEntry {
  name: string;
  family: string;
  summary: string;
  source: string;
  tunables: Tunable[];
}

export interface Catalogue {
  version: string;
  schedulers: SchedulerEntry[];
  disks: { name: string; description: string }[];
  workloads: { name: string; summary: string }[];
}

let compiled: Promise<WebAssembly.Module> | undefined;

async function compile(): Promise<WebAssembly.Module> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`the simulator could not be loaded: ${answer.status} ${answer.statusText}`);
  // Not streaming: a plain file server may not know the type of the file.
  return WebAssembly.compile(await answer.arrayBuffer());
}

async function ask(worker: Worker, wanted: string | undefined, trace: Uint8Array): Promise<void> {
  compiled ??= compile();
  worker.postMessage({ compiled: await compiled, wanted, trace } satisfies Question);
}

function start(): Worker {
  return new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' });
}

const text = new TextDecoder();

/** What there is to choose from. */
export function catalogue(): Promise<Catalogue> {
  const worker = start();
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => {
      worker.terminate();
      if (data.part === Part.Catalogue) resolve(JSON.parse(text.decode(data.bytes)));
      else reject(new Error(text.decode(data.bytes)));
    };
    ask(worker, undefined, new Uint8Array()).catch(reject);
  });
}

/** A run that is under way or done. */
export class Run {
  readonly playback = new Playback();
  head: Head | undefined;
  report: Report | undefined;
  /** Why it broke off. */
  failure: string | undefined;
  private readonly worker = start();

  /** Begins; `changed` is called whenever more is known. */
  constructor(
    readonly wanted: Wanted,
    trace: Uint8Array,
    private readonly changed: () => void,
  ) {
    this.worker.onmessage = ({ data }: MessageEvent<Answer>) => this.told(data);
    this.worker.onerror = (event) => this.fail(event.message);
    ask(this.worker, ...question(wanted, trace)).catch((error) => this.fail(String(error)));
  }

  get isDone(): boolean {
    return this.report !== undefined || this.failure !== undefined;
  }

  /** Whether anything happened in it. */
  get hasBegun(): boolean {
    return this.playback.arrived.length > 0;
  }

  /** Ends it, whether it is done or not. */
  stop(): void {
    this.worker.terminate();
  }

  private fail(why: string): void {
    this.failure ??= why;
    this.stop();
    this.changed();
  }

  private told({ part, bytes }: Answer): void {
    switch (part) {
      case Part.Rows:
        this.playback.addRows(new Float64Array(bytes.buffer));
        break;
      case Part.Reasons:
        this.playback.addReasons(text.decode(bytes));
        break;
      case Part.Head:
        this.head = JSON.parse(text.decode(bytes));
        break;
      case Part.Report:
        this.report = JSON.parse(text.decode(bytes));
        this.stop();
        break;
      default:
        return this.fail(text.decode(bytes));
    }
    this.changed();
  }
}
