// What the disk has been doing until now: grey while it positions, a process's colour while data moves, hatched while it
// is left idle on purpose.

import type { View } from './platter';
import { colour } from './theme';

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

export function strip(context: CanvasRenderingContext2D, width: number, height: number, view: View): void {
  const { theme, moment, speed } = view;
  const { command, idle, process } = moment.recording;
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
}
