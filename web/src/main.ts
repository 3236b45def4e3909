// The page: one state, two panes, one clock.

import './style.css';

import { Clock } from './clock';
import { byId, h, list, say } from './dom';
import { COLOURS, theme, type Theme } from './draw/theme';
import { digits, instant, places, precise, time as duration } from './format';
import { keys } from './keys';
import { Pane } from './pane';
import { OwnLoad } from './own';
import { catalogue, type Catalogue, type Run } from './run';
import { parseTuned } from './settings';
import { beginning, format, parse, sameRuns, type State } from './state';
import { STORIES, story } from './stories';
import type { Wanted } from './wanted';

/** Requests of a run that are drawn: some hundred bytes each. */
const SHOWN = 200_000;
/** How often the address follows the clock, in milliseconds. */
const ADDRESS_MS = 500;
const SPEEDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60];

const NO_TRACE = new Uint8Array();

class Page {
  private state: State = parse(location.hash);
  private readonly panes: Pane[];
  private readonly clock = new Clock();
  private readonly own: OwnLoad;
  private theme: Theme = theme();
  /** What is shown is not drawn yet. */
  private dirty = false;
  /** A frame will come. */
  private asked = false;
  private addressed = 0;
  /** The address that the page has written, or has heard of last. */
  private heard = location.hash;
  /** The step whose tab was brought into view. */
  private tab = '';
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)');
  private readonly scrub = byId<HTMLInputElement>('scrub');
  private readonly speed = byId<HTMLSelectElement>('speed');

  constructor(found: Catalogue) {
    for (const side of ['a', 'b']) {
      byId(`pane-${side}`).append(byId<HTMLTemplateElement>('pane').content.cloneNode(true));
    }
    this.panes = (['a', 'b'] as const).map(
      (side) => new Pane(side, found, (text) => this.change({ ...this.state, [side]: text, at: this.clock.at })),
    );
    this.own = new OwnLoad(found, (change) => {
      // A file of the same name may be another.
      this.change({ ...this.state, ...change, at: 0 }, change.load !== undefined && 'trace' in change.load);
      this.play(!this.calm.matches);
    });
    this.tabs();
    this.listen();
    this.speed.append(...SPEEDS.map((speed) => h('option', { value: String(speed) }, speedText(speed))));
    this.show();
    this.begin();
    this.play(this.state.at === 0 && !this.calm.matches);
  }

  private tabs(): void {
    const tab = (id: string, text: string, place: number): HTMLElement => {
      const number = h('span', { class: 'number', 'aria-hidden': 'true' }, String(place + 1));
      return h('li', {}, h('a', { href: format(beginning(id)), 'data-story': id }, number, ' ', text));
    };
    byId('tabs').append(...STORIES.map((one, place) => tab(one.id, one.tab, place)));
  }

  private listen(): void {
    byId('skip').addEventListener('click', (event) => {
      event.preventDefault();
      byId('controls').focus();
    });
    addEventListener('hashchange', () => {
      this.heard = location.hash;
      // A place on the page is no state.
      if (!location.hash.includes('=')) return this.address();
      const next = parse(location.hash);
      const other = next.story !== this.state.story;
      this.change(next);
      if (other) this.play(!this.calm.matches);
    });
    byId('play').addEventListener('click', () => this.play(!this.clock.playing));
    byId('step').addEventListener('click', () => this.step(1));
    byId('back').addEventListener('click', () => this.step(-1));
    this.scrub.addEventListener('input', () => this.seek((Number(this.scrub.value) / 1000) * this.end));
    this.speed.addEventListener('change', () => this.setSpeed(Number(this.speed.value)));
    const restyle = (): void => {
      this.theme = theme();
      this.redraw();
    };
    addEventListener('resize', restyle);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', restyle);
    this.calm.addEventListener('change', restyle);
    void document.fonts?.ready.then(restyle);
    keys(byId('controls'), {
      play: () => this.play(!this.clock.playing),
      step: (way) => this.step(way),
      seek: (part) => this.seek(part * this.end),
      speed: (way) => this.faster(way),
      story: (place) => STORIES[place] && (location.hash = format(beginning(STORIES[place].id))),
    });
  }

  private get end(): number {
    return Math.max(...this.panes.map((pane) => pane.end), 1);
  }

  /** Whether anything has happened in a run. */
  private get isKnown(): boolean {
    return this.end > 1;
  }

  /** Shows another state; runs anew only if it asks for other runs. */
  private change(next: State, anew = false): void {
    next.load = this.own.whole(next.load);
    const same = !anew && sameRuns(next, this.state);
    this.state = next;
    this.show();
    if (!same) this.begin(anew);
    else {
      this.seek(next.at);
      this.told();
    }
    this.address();
  }

  private show(): void {
    const { state } = this;
    const told = story(state.story);
    const own = this.isOwn;
    const place = STORIES.indexOf(told);
    const whose = this.isOwnLoad ? 'Your own load' : 'Your own schedulers';
    say(byId('count'), own ? whose : `Step ${place + 1} of ${STORIES.length}`);
    const lacks = this.own.lacks(state.load);
    if (lacks) this.own.open();
    say(byId('title'), lacks ? 'The load is missing' : own ? 'Two schedulers, one load' : told.title);
    say(byId('text'), lacks ?? (own ? this.own.describe(state) : told.text));
    list(byId('look'), own ? ['Who waits, for how long, and what the scheduler says about it.'] : told.look);
    for (const link of byId('tabs').querySelectorAll('a')) {
      const current = !own && link.dataset['story'] === told.id;
      if (current) link.setAttribute('aria-current', 'step');
      else link.removeAttribute('aria-current');
      if (current && this.tab !== told.id) link.scrollIntoView({ block: 'nearest', inline: 'center' });
    }
    this.tab = told.id;
    this.own.show(state);
    this.setSpeed(state.speed);
  }

  private begin(anew = false): void {
    const { disk, load, seed, duration } = this.state;
    this.clock.at = this.state.at;
    const cannot = (this.own.lacks(load) ?? this.own.unknown(load)) !== undefined;
    const trace = this.own.trace(load) ?? NO_TRACE;
    for (const pane of this.panes) {
      const scheduler = this.state[pane.side];
      pane.setScheduler(scheduler);
      const wanted: Wanted = { scheduler, disk, load, seed, duration, shown: SHOWN };
      const same = !anew && JSON.stringify(wanted) === JSON.stringify(pane.run?.wanted);
      if (cannot || !pane.isKnown) pane.clear();
      else if (!same) pane.begin(wanted, trace, () => this.told());
    }
    this.told();
  }

  private told(): void {
    this.redraw();
    const runs = this.panes.flatMap((pane) => pane.run ?? []);
    const done = runs.every((run) => run.isDone);
    if (done && this.isKnown) this.clock.at = Math.min(this.clock.at, this.end);
    const problem = this.own.unknown(this.state.load) ?? (done ? refused(runs) : undefined);
    this.own.complain(problem);
    this.panes.forEach((pane) => pane.showProgress(done && !problem));
    const programs = Math.max(0, ...runs.map((run) => run.playback.shares.size));
    say(byId('repeat'), programs > COLOURS ? `: ${COLOURS} colours, which repeat for ${programs} programs` : '');
    const notes = new Set(this.panes.flatMap((pane) => pane.run?.head?.notes ?? []));
    const reports = this.panes.flatMap((pane) => pane.run?.report ?? []);
    if (reports.some((report) => !report.complete)) {
      notes.add(`Only the first ${SHOWN.toLocaleString('en')} requests are drawn; the report is of all.`);
    }
    if (reports.some((report) => report.folded > 0)) {
      notes.add('Some addresses lie beyond the end of this disk and were folded back onto it: choose a larger disk.');
    }
    list(byId('notes'), [...notes]);
    document.body.dataset['state'] = done ? 'done' : 'running';
    if (done && !this.clock.playing) this.settled();
  }

  private play(playing: boolean): void {
    if (playing && !this.panes.some((pane) => pane.run)) return;
    if (playing && this.clock.at >= this.end) this.clock.at = 0;
    this.clock.playing = playing;
    byId('play').setAttribute('aria-label', playing ? 'Pause' : 'Play');
    byId('play-icon').setAttribute('d', playing ? 'M7 4h4v16H7zM14 4h4v16h-4z' : 'M7 4l13 8-13 8z');
    this.redraw();
    if (!playing) this.settled();
  }

  private seek(at: number): void {
    this.clock.at = Math.max(0, Math.min(at, this.end));
    this.redraw();
    if (!this.clock.playing) this.settled();
  }

  /** To the next decision of either pane, or the one before. */
  private step(way: 1 | -1): void {
    this.play(false);
    const times = this.panes.flatMap((pane) => {
      const decided = pane.run?.playback.decidedAt;
      if (!decided) return [];
      const count = decided.upTo(this.clock.at);
      const before = way > 0 ? count : decided.upTo(this.clock.at - 1) - 1;
      return before >= 0 && before < decided.length ? [decided.get(before)] : [];
    });
    if (times.length) this.seek(way > 0 ? Math.min(...times) : Math.max(...times));
  }

  /** What the two have come to until now, in the figure that the step is about. */
  private verdict(): string {
    const compare = this.isOwnLoad ? undefined : story(this.state.story).compare;
    if (compare === 'waits') {
      const [a, b] = this.panes.map((pane) => `${duration(pane.longestAt())} under ${pane.name}`);
      return `The longest wait so far: ${a}, ${b}.`;
    }
    if (compare === 'shares') return this.shares();
    const [a, b] = this.panes.map((pane) => ({ name: pane.name, bytes: pane.bytesAt(compare?.process) }));
    if (!a.bytes || !b.bytes) return '';
    const [more, less] = a.bytes > b.bytes ? [a, b] : [b, a];
    const ratio = more.bytes / less.bytes;
    const whose = compare ? ` for ${compare.name}` : '';
    if (ratio < 1.05) return `So far ${a.name} and ${b.name} have moved about as much data${whose}.`;
    return `So far ${more.name} has moved ${digits(ratio)} times as much data${whose} as ${less.name}.`;
  }

  /** How the disk's time was shared, against what weights ask for. */
  private shares(): string {
    const percent = (parts: number[]): string => {
      const all = parts.map((part) => `${Math.round(100 * part)}`);
      return `${all.slice(0, -1).join(', ')} and ${all.at(-1)}\u00a0%`;
    };
    const [a, b] = this.panes.map((pane) => ({ name: pane.name, ...pane.sharesAt() }));
    if (!a.due || !b.due || !a.got || !b.got) return '';
    const of = `${a.name} gave the programs ${percent(a.got)}, ${b.name} ${percent(b.got)}`;
    return `Of the disk’s time so far ${of}. Their weights ask for ${percent(a.due)}.`;
  }

  /** The load, the disk or a scheduler, whatever its settings, differs from the step. */
  private get isOwn(): boolean {
    const names = ({ a, b }: State): string => [a, b].map((text) => parseTuned(text).name).sort().join();
    return this.isOwnLoad || names(beginning(this.state.story)) !== names(this.state);
  }

  /** The load or the disk differs from the step. */
  private get isOwnLoad(): boolean {
    const { state } = this;
    const base = beginning(state.story);
    return JSON.stringify(base.load) !== JSON.stringify(state.load) || base.disk !== state.disk;
  }

  private setSpeed(speed: number): void {
    this.clock.speed = this.state.speed = speed;
    if (!SPEEDS.includes(speed) && !this.speed.querySelector(`[value="${speed}"]`)) {
      this.speed.append(h('option', { value: String(speed) }, speedText(speed)));
    }
    this.speed.value = String(speed);
    this.redraw();
  }

  private faster(way: 1 | -1): void {
    const next = way > 0 ? SPEEDS.find((one) => one > this.clock.speed) : SPEEDS.findLast((one) => one < this.clock.speed);
    if (next) this.setSpeed(next);
    this.address();
  }

  /** The clock stands still: the address says where, and so does the page to those who listen. */
  private settled(): void {
    this.address();
    requestAnimationFrame(() => {
      const sentences = this.panes.map((pane) => pane.sentence());
      say(byId('spoken'), [`${instant(this.clock.at, precise(this.end))}.`, ...sentences].join(' ').trim());
    });
  }

  private address(): void {
    this.state.at = this.clock.at;
    // Another address counts from when it is there: the page will hear of it.
    if (location.hash !== this.heard) return;
    const own = format(this.state);
    if (own !== location.hash) history.replaceState(null, '', own);
    this.heard = location.hash;
  }

  private redraw(): void {
    this.dirty = true;
    this.wake();
  }

  /** Asks for a frame: a page that stands still costs nothing. */
  private wake(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame((now) => this.frame(now));
  }

  private frame(now: number): void {
    this.asked = false;
    const known = Math.min(this.end, ...this.panes.map((pane) => pane.known));
    const moved = this.clock.tick(now, known);
    const done = this.panes.every((pane) => pane.run?.isDone);
    if (this.clock.playing && done && this.clock.at >= this.end) this.play(false);
    if (moved && now - this.addressed > ADDRESS_MS) {
      this.addressed = now;
      this.address();
    }
    if (moved || this.dirty) this.draw();
    if (this.clock.playing) this.wake();
  }

  private draw(): void {
    this.dirty = false;
    const { at, speed, playing } = this.clock;
    const longest = Math.max(1e6, ...this.panes.map((pane) => pane.longest)) * 1.04;
    for (const pane of this.panes) {
      pane.draw({ theme: this.theme, at, speed, still: this.calm.matches, longest, playing, end: this.end });
    }
    say(byId('verdict'), this.verdict());
    const { end } = this;
    if (document.activeElement !== this.scrub || this.clock.playing) {
      this.scrub.value = String((at / end) * 1000);
    }
    // Before anything is known, and where nothing runs, there is no time to tell.
    const text = this.isKnown ? `${instant(at, places(end))} of ${instant(end, places(end))}` : '';
    say(byId('time'), text);
    this.scrub.setAttribute('aria-valuetext', text);
    this.scrub.style.setProperty('--part', String(at / end));
  }
}

/** Why nothing could run, if it is the same for all: then it is the load's, and not a scheduler's. */
function refused(runs: Run[]): string | undefined {
  const [first] = runs;
  return runs.every((run) => !run.hasBegun && run.failure === first.failure) ? first?.failure : undefined;
}

function speedText(speed: number): string {
  if (speed === 1) return 'as it was';
  return speed < 1 ? `${Math.round(1 / speed)} × slower` : `${speed} × faster`;
}

catalogue()
  .then((found) => new Page(found))
  .catch((error) => {
    say(byId('title'), 'The simulator could not be started');
    say(byId('text'), String(error));
  });
