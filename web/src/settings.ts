// A scheduler with its settings: its text (`NAME:tunable=value;…`), and a control for each tunable.

import { h, say } from './dom';
import type { SchedulerEntry, Tunable } from './run';

export interface Tuned {
  name: string;
  settings: Map<string, string>;
}

/** Reads a text such as `deadline:fifo_batch=1;front_merges=off`. */
export function parseTuned(text: string): Tuned {
  const [, name, rest] = text.match(/^([^:]*):?(.*)$/s) ?? ['', text, ''];
  const pairs = rest.split(';').filter((part) => part.includes('='));
  return { name: name.trim(), settings: new Map(pairs.map((part) => splitPair(part))) };
}

function splitPair(part: string): [string, string] {
  const at = part.indexOf('=');
  return [part.slice(0, at).trim(), part.slice(at + 1).trim()];
}

export function formatTuned({ name, settings }: Tuned): string {
  const pairs = [...settings].map(([key, value]) => `${key}=${value}`);
  return pairs.length ? `${name}:${pairs.join(';')}` : name;
}

/** Stops of a slider whose range is too large for one stop a value. */
const STOPS = 200;

/** A value by a slider's stop, and back: even steps in a small range, even ratios in a large one. */
function scale({ min, max }: Tunable): { stops: number; value: (stop: number) => number; stop: (value: number) => number } {
  const range = max - min;
  if (range <= STOPS) return { stops: range, value: (stop) => min + stop, stop: (value) => value - min };
  const top = Math.log1p(range);
  return {
    stops: STOPS,
    value: (stop) => min + Math.round(Math.expm1((stop / STOPS) * top)),
    stop: (value) => Math.round((Math.log1p(value - min) / top) * STOPS),
  };
}

function shown(tunable: Tunable, value: string): string {
  return tunable.unit && /^\d+$/.test(value) ? `${value} ${tunable.unit}` : value;
}

/** The control of one tunable; `set` takes its new value, `undefined` for the default. */
function control(
  tunable: Tunable,
  id: string,
  current: string | undefined,
  set: (value: string | undefined) => void,
): HTMLElement {
  const standard = tunable.words.length ? tunable.words[tunable.default] : String(tunable.default);
  const value = current ?? standard;
  const put = (text: string): void => set(text === standard ? undefined : text);
  const output = h('output', { for: id }, shown(tunable, value));
  let input: HTMLElement;
  if (tunable.words.length) {
    const options = tunable.words.map((word) => h('option', { value: word, selected: word === value }, word));
    const choose = h('select', { id, onchange: () => put(choose.value) }, ...options);
    input = choose;
    output.hidden = true;
  } else if (tunable.seed) {
    const type = h('input', { id, type: 'number', min: '0', value, onchange: () => put(type.value) });
    input = type;
    output.hidden = true;
  } else {
    const { stops, value: valueOf, stop } = scale(tunable);
    const number = Number.parseInt(value, 10);
    const slide = h('input', {
      id,
      type: 'range',
      min: '0',
      max: String(stops),
      value: String(stop(Number.isFinite(number) ? number : tunable.default)),
      'aria-valuetext': shown(tunable, value),
      oninput: () => {
        const text = shown(tunable, String(valueOf(Number(slide.value))));
        say(output, text);
        slide.setAttribute('aria-valuetext', text);
      },
      onchange: () => put(String(valueOf(Number(slide.value)))),
    });
    input = slide;
  }
  const name = h('label', { for: id }, tunable.name);
  return h('div', { class: 'tunable' }, name, output, input, h('p', {}, tunable.doc));
}

/** Controls for all tunables of a scheduler. */
export function controls(entry: SchedulerEntry, tuned: Tuned, prefix: string, changed: (tuned: Tuned) => void): HTMLElement[] {
  return entry.tunables.map((tunable) =>
    control(tunable, `${prefix}-${tunable.name}`, tuned.settings.get(tunable.name), (value) => {
      const settings = new Map(tuned.settings);
      if (value === undefined) settings.delete(tunable.name);
      else settings.set(tunable.name, value);
      changed({ name: tuned.name, settings });
    }),
  );
}
