// The disk from above: tracks, who waits where, and the arm. A disk without an arm is a map of its addresses.

import type { Head } from '../run';
import type { Moment } from '../moment';
import { dot } from './canvas';
import { colour, type Theme } from './theme';

/** A turn that takes less time than this on the screen is not drawn: it would flicker. */
const SHORTEST_TURN_MS = 350;

const INNER = 0.34;
/** Cells of the map, in each direction. */
const CELLS = 24;

export interface View {
  theme: Theme;
  head: Head;
  moment: Moment;
  /** Simulated time that passes in a second. */
  speed: number;
  still: boolean;
}

type Context = CanvasRenderingContext2D;

export function platter(context: Context, width: number, height: number, view: View): void {
  if (view.head.tracks) disk(context, width, height, view, view.head.tracks);
  else map(context, width, height, view);
}

interface Place {
  x: number;
  y: number;
}

function disk(context: Context, width: number, height: number, view: View, tracks: NonNullable<Head['tracks']>): void {
  const { theme, moment } = view;
  const outer = Math.min(width / 1.16, height) / 2 - 6;
  const centre = { x: outer + 6, y: height / 2 };
  const rim = (radius: number): number => outer * (1 - radius * (1 - INNER));
  context.fillStyle = theme.surface;
  dot(context, centre.x, centre.y, outer);
  context.fill();
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  for (const radius of [0, ...tracks.zones]) {
    dot(context, centre.x, centre.y, rim(Math.min(1, radius)));
    context.stroke();
  }
  context.fillStyle = theme.ground;
  dot(context, centre.x, centre.y, outer * INNER * 0.62);
  context.fill();
  context.stroke();

  const turns = !view.still && tracks.period_ns / 1e6 / view.speed >= SHORTEST_TURN_MS;
  const turned = turns ? (moment.at % tracks.period_ns) / tracks.period_ns : 0;
  const arm = new Arm(centre, outer);
  const place = (radius: number, angle: number): Place => {
    const at = rim(radius);
    const way = (turns ? angle - turned : angle) * 2 * Math.PI + arm.angle(at);
    return { x: centre.x + at * Math.cos(way), y: centre.y - at * Math.sin(way) };
  };
  if (turns) mark(context, theme, place(0.0, 0), place(0.08, 0));
  const head = moment.head();
  requests(context, view, place, head.request);
  arm.draw(context, theme, rim(head.radius), head.phase === 'transfer');
}

/** A short stroke that turns with the platter. */
function mark(context: Context, theme: Theme, from: Place, to: Place): void {
  context.strokeStyle = theme.muted;
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.lineTo(to.x, to.y);
  context.stroke();
}

function requests(
  context: Context,
  { theme, moment }: View,
  place: (radius: number, angle: number) => Place,
  served: number | undefined,
): void {
  const { radius, angle, process } = moment.playback;
  const small = moment.outstanding.length > 120;
  for (const request of moment.outstanding) {
    const { x, y } = place(radius.get(request), angle.get(request));
    const shade = theme.processes[colour(process.get(request))];
    dot(context, x, y, request === served ? 5 : small ? 2.2 : 3.2);
    if (request === served || moment.isWaiting(request)) {
      context.fillStyle = shade;
      context.fill();
    } else {
      context.strokeStyle = shade;
      context.lineWidth = 1.6;
      context.stroke();
    }
    if (request === served) {
      context.strokeStyle = theme.accent;
      context.lineWidth = 2;
      dot(context, x, y, 8);
      context.stroke();
    }
  }
}

/** The arm: it swings about a pivot beside the platter, and its tip is the head. */
class Arm {
  private readonly pivot: Place;
  private readonly length: number;

  constructor(
    private readonly centre: Place,
    outer: number,
  ) {
    this.pivot = { x: centre.x + outer * 1.08, y: centre.y + outer * 0.72 };
    this.length = Math.hypot(this.pivot.x - centre.x, this.pivot.y - centre.y) * 0.86;
  }

  /** The angle, seen from the centre, at which the head is when it is `radius` away from there. */
  angle(radius: number): number {
    const [dx, dy] = [this.pivot.x - this.centre.x, this.centre.y - this.pivot.y];
    const distance = Math.hypot(dx, dy);
    const cosine = (radius ** 2 + distance ** 2 - this.length ** 2) / (2 * radius * distance);
    return Math.atan2(dy, dx) + Math.acos(Math.max(-1, Math.min(1, cosine)));
  }

  draw(context: Context, theme: Theme, radius: number, busy: boolean): void {
    const way = this.angle(radius);
    const tip = { x: this.centre.x + radius * Math.cos(way), y: this.centre.y - radius * Math.sin(way) };
    context.strokeStyle = theme.ink;
    context.lineCap = 'round';
    context.lineWidth = 4;
    context.beginPath();
    context.moveTo(this.pivot.x, this.pivot.y);
    context.lineTo(tip.x, tip.y);
    context.stroke();
    context.fillStyle = theme.ink;
    dot(context, this.pivot.x, this.pivot.y, 8);
    context.fill();
    context.fillStyle = theme.accent;
    dot(context, tip.x, tip.y, busy ? 5.5 : 4);
    context.fill();
  }
}

/** A disk where nothing turns: its addresses from left to right, row by row. */
function map(context: Context, width: number, height: number, { theme, moment, head }: View): void {
  const size = Math.min(width, height) - 12;
  const cell = size / CELLS;
  const { start, process } = moment.playback;
  context.fillStyle = theme.surface;
  context.fillRect(6, 6, size, size);
  context.strokeStyle = theme.line;
  context.strokeRect(6.5, 6.5, size - 1, size - 1);
  for (const request of moment.outstanding) {
    const place = Math.min(CELLS ** 2 - 1, Math.floor((start.get(request) / head.capacity) * CELLS ** 2));
    const [x, y] = [6 + (place % CELLS) * cell, 6 + Math.floor(place / CELLS) * cell];
    const shade = theme.processes[colour(process.get(request))];
    if (moment.isWaiting(request)) {
      context.fillStyle = shade;
      context.fillRect(x + 0.5, y + 0.5, cell - 1, cell - 1);
    } else {
      context.strokeStyle = shade;
      context.lineWidth = 1.5;
      context.strokeRect(x + 1.5, y + 1.5, cell - 3, cell - 3);
    }
  }
}
