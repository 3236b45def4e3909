// What the disk has been doing until now: grey while it positions, a process's colour while data moves, hatched while it
// is left idle on purpose. Below it are instants of the run, in seconds.

import { time } from '../format';
import type { Moment } from '../moment';
import { FONT } from './canvas';
import type { View } from './platter';
import { colour } from './theme';

/** What is left below for the instants. */
const AXIS = 18;
/** Two instants are at least this far apart. */
const APART = 110;

/** Seconds on the screen that the strip shows. */
const SHOWN_S = 6;

let hatching: { colour: string; pattern: CanvasPattern | null } | undefined;

/** Diagonal lines. */
function hatched(context: CanvasRenderingContext2D, shade: string): CanvasPattern | string {
  if (hatching?.colour !== shade) {
    const tile = document.createElement('canvas');
    tile.width = tile.height = 6;
    const inside = tile.getContext('2d')!;
    inside.strokeStyle = shade;
    inside.lineWidth = 1;
    for (const shift of [-6, 0, 6]) {
      inside.moveTo(shift, 6);
      inside.lineTo(shift + 6, 0);
    }
    inside.stroke();
    hatching = { colour: shade, pattern: context.createPattern(tile, 'repeat') };
  }
  return hatching.pattern ?? shade;
}

/** Simulated time that the strip shows. */
export function shown(speed: number): number {
  return SHOWN_S * speed * 1e9;
}

export function strip(context: CanvasRenderingContext2D, width: number, whole: number, view: View): void {
  const { theme, moment, speed } = view;
  const height = whole - AXIS;
  const { command, idle, process } = moment.playback;
  const span = shown(speed);
  const from = moment.at - span;
  const across = (at: number): number => ((at - from) / span) * width;
  const bar = (begin: number, end: number, fill: string | CanvasPattern): void => {
    const [x, to] = [across(Math.max(begin, from)), across(Math.min(end, moment.at))];
    if (to <= x) return;
    context.fillStyle = fill;
    context.fillRect(x, 0, Math.max(to - x, 0.6), height);
  };
  context.fillStyle = theme.surface;
  context.fillRect(0, 0, width, height);
  for (let row = idle.from.upTo(moment.at) - 1; row >= 0 && idle.to.get(row) >= from; row--) {
    bar(idle.from.get(row), idle.to.get(row), hatched(context, theme.accent));
  }
  // Commands end in order, so those in view lie together; the first that has not ended may be under way.
  let row = Math.min(command.at.length - 1, command.at.upTo(moment.at));
  for (; row >= 0 && command.at.get(row) >= from; row--) {
    const end = command.at.get(row);
    const moves = Math.max(command.started.get(row), end - command.transfer.get(row));
    bar(command.started.get(row), moves, theme.lost);
    bar(moves, end, theme.processes[colour(process.get(command.request.get(row)))]);
  }
  instants(context, width, height, view, from, across);
}

/** A tick and its time at each round instant in view. */
function instants(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  { theme, moment, speed }: View,
  from: number,
  across: (at: number) => number,
): void {
  const least = (shown(speed) * APART) / width;
  const ten = 10 ** Math.floor(Math.log10(least));
  const step = ten * ([1, 2, 5].find((one) => one * ten >= least) ?? 10);
  const places = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));
  context.font = FONT;
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.fillStyle = theme.muted;
  const first = Math.max(0, Math.ceil(from / step));
  const most = width / APART + 1;
  for (let tick = 0; tick < most && (first + tick) * step <= moment.at; tick++) {
    const at = (first + tick) * step;
    const x = across(at);
    const text = `${(at / 1e9).toFixed(places)} s`;
    const half = context.measureText(text).width / 2;
    if (x < half || x > width - half) continue;
    context.fillRect(Math.round(x), height, 1, 4);
    context.fillText(text, x, height + AXIS - 3);
  }
}

/** What the strip shows, in words: how the disk has spent the time in view. */
export function spent(moment: Moment, speed: number): string {
  const { command, idle } = moment.playback;
  const [to, from] = [moment.at, Math.max(0, moment.at - shown(speed))];
  if (to <= from) return 'nothing yet';
  const within = (begin: number, end: number): number => Math.max(0, Math.min(end, to) - Math.max(begin, from));
  let [waits, moving, data] = [0, 0, 0];
  for (let row = idle.from.upTo(to) - 1; row >= 0 && idle.to.get(row) >= from; row--) {
    waits += within(idle.from.get(row), idle.to.get(row));
  }
  let row = Math.min(command.at.length - 1, command.at.upTo(to));
  for (; row >= 0 && command.at.get(row) >= from; row--) {
    const end = command.at.get(row);
    const moves = Math.max(command.started.get(row), end - command.transfer.get(row));
    moving += within(command.started.get(row), moves);
    data += within(moves, end);
  }
  const part = (spent: number): string => `${Math.round((100 * spent) / (to - from))} %`;
  return `in the last ${time(to - from)} ${part(moving)} moving and turning, ${part(data)} data, ${part(waits)} idle on purpose`;
}
