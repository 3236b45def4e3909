// Who waits: a dot for each request, across by address, up by how long it has waited.

import { time } from '../format';
import { dot, FONT } from './canvas';
import type { View } from './platter';
import { colour } from './theme';

/** Waits that get a line, if they fit. */
const LINES = [1e6, 1e7, 3e7, 1e8, 3e8, 1e9, 3e9, 1e10, 3e10, 1e11];

/** Draws it; `longest` is the wait that reaches the top. */
export function waiting(
  context: CanvasRenderingContext2D,
  width: number,
  height: number,
  view: View & { longest: number },
): void {
  const { theme, moment, head } = view;
  const [left, right, top, bottom] = [54, width - 8, 22, height - 22];
  const across = (address: number): number => left + ((right - left) * address) / head.capacity;
  // A root: short waits stay apart, and long ones fit.
  const up = (wait: number): number => bottom - (bottom - top) * Math.sqrt(Math.max(0, wait) / view.longest);
  context.font = FONT;
  context.textBaseline = 'alphabetic';
  lines(context, view, up, [left - 4, right]);
  context.fillStyle = theme.muted;
  const [first, last] = head.tracks ? ['outer', 'inner'] : ['first', 'last'];
  const what = right - left < 170 ? '' : head.tracks ? ' edge' : ' address';
  context.textAlign = 'left';
  context.fillText(first + what, left, height - 6);
  context.textAlign = 'right';
  context.fillText(last + what, right, height - 6);

  const at = moment.head();
  if (head.tracks) {
    const x = across(at.address);
    context.strokeStyle = theme.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, top);
    context.lineTo(x, bottom + 4);
    context.stroke();
  }
  const { start, issued, process } = moment.recording;
  const small = moment.outstanding.length > 120;
  for (const request of moment.outstanding) {
    const [x, y] = [across(start.get(request)), up(moment.at - issued.get(request))];
    const shade = theme.processes[colour(process.get(request))];
    dot(context, x, y, small ? 2.4 : 3.4);
    if (moment.isWaiting(request)) {
      context.fillStyle = shade;
      context.fill();
    } else {
      context.strokeStyle = shade;
      context.lineWidth = 1.6;
      context.stroke();
    }
  }
}

/** A line for each round wait, as far as they are not too close. */
function lines(
  context: CanvasRenderingContext2D,
  { theme, longest }: View & { longest: number },
  up: (wait: number) => number,
  [left, right]: [number, number],
): void {
  let before = Infinity;
  context.textAlign = 'right';
  for (const wait of [0, ...LINES].filter((one) => one <= longest)) {
    const y = Math.round(up(wait)) + 0.5;
    if (before - y < 24) continue;
    before = y;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.stroke();
    context.fillStyle = theme.muted;
    context.fillText(wait > 0 ? time(wait).replace(/\.0+ /, ' ') : '0', left - 6, y + 4);
  }
}
