// What is shown, as the address says it: only what differs from the step of the story.

import { story } from './stories';
import type { Load } from './wanted';

export interface State {
  story: string;
  a: string;
  b: string;
  disk: string;
  load: Load;
  seed: number;
  duration: string;
  /** Simulated time, in nanoseconds. */
  at: number;
  /** Simulated time that passes in a second. */
  speed: number;
}

/** A text of more letters than this is not put into an address. */
const LONGEST_LOAD = 4000;

/** The latest instant that an address may name: a number holds those before it to the nanosecond. */
const LATEST = 2 ** 50;
/** The slowest and the fastest that an address may ask for. */
const SPEEDS = [1e-6, 1e6] as const;

/** A step of the story as it begins. */
export function beginning(id: string | null): State {
  const { id: name, a, b, disk, load, duration, speed } = story(id);
  return { story: name, a, b, disk, load, duration, speed, seed: 1, at: 0 };
}

/** A load as an address has it: of a trace file the name, of a long text only its kind. */
function loadText(load: Load): string {
  const [[kind, text]] = Object.entries(load) as [string, string][];
  return text.length > LONGEST_LOAD ? kind : `${kind}:${text}`;
}

/** The load; a text that is not in the address is empty. */
function loadOf(text: string | null): Load | undefined {
  const [, kind, rest = ''] = text?.match(/^(workload|fio|ops|trace)(?::(.*))?$/s) ?? [];
  return kind ? ({ [kind]: rest } as Load) : undefined;
}

function positive(text: string | null, otherwise: number): number {
  const number = Number(text ?? NaN);
  return Number.isFinite(number) && number >= 0 ? number : otherwise;
}

function within(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}

/** A seed that a number holds to its last digit. */
function seed(text: string | null, otherwise: number): number {
  const number = positive(text, otherwise);
  return Number.isSafeInteger(number) ? number : otherwise;
}

/** What an address (the part after #) asks for. Whatever is wrong or missing is as the step has it. */
export function parse(hash: string): State {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  const base = beginning(given.get('step'));
  return {
    story: base.story,
    a: given.get('a') || base.a,
    b: given.get('b') || base.b,
    disk: given.get('disk') || base.disk,
    load: loadOf(given.get('load')) ?? base.load,
    seed: seed(given.get('seed'), base.seed),
    duration: given.get('for') || base.duration,
    at: within(Math.round(positive(given.get('t'), 0) * 1e9), 0, LATEST),
    speed: within(positive(given.get('speed'), base.speed) || base.speed, ...SPEEDS),
  };
}

/** An instant in seconds, to the nanosecond. What happens later is not in it. */
function seconds(at: number): string {
  return (Math.floor(at) / 1e9).toFixed(9).replace(/\.?0+$/, '');
}

/** The address of a state. */
export function format(state: State): string {
  const base = beginning(state.story);
  const words = new URLSearchParams({ step: state.story });
  for (const key of ['a', 'b', 'disk', 'seed', 'speed'] as const) {
    if (state[key] !== base[key]) words.set(key, String(state[key]));
  }
  if (state.duration !== base.duration) words.set('for', state.duration);
  const load = loadText(state.load);
  if (load !== loadText(base.load)) words.set('load', load);
  if (state.at >= 1) words.set('t', seconds(state.at));
  return `#${words}`;
}

/** Whether two states ask for the same runs. */
export function sameRuns(one: State, other: State): boolean {
  const key = ({ a, b, disk, load, seed, duration }: State): string =>
    JSON.stringify([a, b, disk, load, seed, duration]);
  return key(one) === key(other);
}
