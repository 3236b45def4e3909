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
  const [left, right, top] = [68, width - 8, 22];
  // Where the edges' names leave no room between them, what the axis is goes below.
  const roomy = right - left >= 200;
  const bottom = height - (roomy ? 22 : 36);
  const across = (address: number): number => left + ((right - left) * address) / head.capacity;
  // A root: short waits stay apart, and long ones fit.
  const up = (wait: number): number => bottom - (bottom - top) * Math.sqrt(Math.max(0, wait) / view.longest);
  context.font = FONT;
  context.textBaseline = 'alphabetic';
  lines(context, view, up, [left - 4, right]);
  context.fillStyle = theme.muted;
  const [first, last] = head.tracks ? ['outer', 'inner'] : ['first', 'last'];
  const what = roomy && head.tracks ? ' edge' : '';
  context.textAlign = 'left';
  context.fillText(first + what, left, bottom + 16);
  context.textAlign = 'right';
  context.fillText(last + what, right, bottom + 16);
  context.textAlign = 'center';
  context.fillText('address', (left + right) / 2, height - 6);
  context.save();
  context.translate(10, (top + bottom) / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(roomy ? 'waited (square-root scale)' : 'waited (√ scale)', 0, 0);
  context.restore();

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
  const { start, issued, process } = moment.playback;
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
