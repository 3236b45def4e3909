// One scheduler on the page: its choice and settings, its disk, its figures, its reasons.

import { byId, h, say } from './dom';
import { paint } from './draw/canvas';
import { platter, type View } from './draw/platter';
import { spent, strip } from './draw/strip';
import { colour, type Theme } from './draw/theme';
import { waiting } from './draw/waiting';
import { bytes, digits, instant, precise, reason, size, time } from './format';
import { Moment } from './moment';
import type { Decision } from './playback';
import { type Catalogue, Run, type SchedulerEntry } from './run';
import { controls, formatTuned, parseTuned } from './settings';
import { command, textFile, type Wanted } from './wanted';

/** Decisions that are listed. */
const LISTED = 5;
/** While playing, the list changes no faster than it can be read, in milliseconds. */
const READABLE_MS = 150;
/** Processes that are listed; of more than that, only the range is told. */
const PROCESSES = 6;
/** How long the page says that something was copied, in milliseconds. */
const COPIED_MS = 4000;

const FAMILIES: Record<string, string> = {
  textbook: 'From textbooks',
  proportional_share: 'Proportional shares',
  anticipatory: 'Anticipatory (SOSP 2001)',
  linux_2_6: 'Linux 2.6',
  blk_mq: 'Linux today',
  unc: 'UNC',
  idlewise: 'idlewise',
  selectors: 'Choose by themselves',
};

/** What both panes are drawn with. */
export interface Shared {
  theme: Theme;
  at: number;
  speed: number;
  still: boolean;
  longest: number;
  playing: boolean;
  /** Where the longer run ends, as far as it is known. */
  end: number;
}

interface Row {
  bar: HTMLElement;
  value: HTMLElement;
}

export class Pane {
  run: Run | undefined;
  private moment: Moment | undefined;
  private readonly root: HTMLElement;
  private readonly choose: HTMLSelectElement;
  private text = '';
  private entry: SchedulerEntry | undefined;
  private rows = new Map<number, Row>();
  private listed = '';
  private listedAt = 0;
  private copied: ReturnType<typeof setTimeout> | undefined;
  private speed = 0;

  constructor(
    readonly side: 'a' | 'b',
    private readonly catalogue: Catalogue,
    private readonly changed: (text: string) => void,
  ) {
    this.root = byId(`pane-${side}`);
    this.choose = this.find('select.scheduler');
    const groups = new Map<string, HTMLOptGroupElement>();
    for (const { name, family } of catalogue.schedulers) {
      const label = FAMILIES[family] ?? family;
      if (!groups.has(family)) groups.set(family, h('optgroup', { label }));
      groups.get(family)!.append(h('option', { value: name }, name));
    }
    this.choose.append(...groups.values());
    this.choose.addEventListener('change', () => this.changed(this.choose.value));
    this.find<HTMLButtonElement>('.reset').addEventListener('click', () => this.changed(this.choose.value));
    this.find<HTMLButtonElement>('.copy').addEventListener('click', () => void this.copy());
    this.find<HTMLButtonElement>('.save').addEventListener('click', () => this.save());
  }

  /** Shows the scheduler of this text. */
  setScheduler(text: string): void {
    if (text === this.text) return;
    this.text = text;
    const tuned = parseTuned(text);
    this.entry = this.catalogue.schedulers.find((one) => one.name === tuned.name);
    this.choose.value = tuned.name;
    say(this.find('.summary'), this.entry?.summary ?? '');
    const entry = this.entry;
    const made = entry ? controls(entry, tuned, this.side, (next) => this.changed(formatTuned(next))) : [];
    const focused = document.activeElement?.id;
    this.find('.tunables').replaceChildren(...made);
    if (focused) document.getElementById(focused)?.focus();
    const count = tuned.settings.size;
    const altered = count === 0 ? '' : count === 1 ? ' (1 changed)' : ` (${count} changed)`;
    say(this.find('.settings summary'), `Settings${altered}`);
    this.find('.settings').hidden = made.length === 0;
    this.find('.reset').hidden = count === 0;
  }

  /** Begins another run. */
  begin(wanted: Wanted, trace: Uint8Array, told: () => void): void {
    this.clear();
    const run = new Run(wanted, trace, told);
    this.run = run;
    this.moment = new Moment(run.playback);
    say(this.find('.command code'), command(wanted));
    const file = textFile(wanted.load)?.name;
    const save = this.find<HTMLButtonElement>('.save');
    save.hidden = file === undefined;
    say(save, `Save ${file}`);
    const first = file ? `Save the text as ${file}, and the` : 'The';
    say(this.find('.same'), `${first} command line gives the same figures, to the last digit:`);
  }

  /** Ends the run and shows none: there is nothing to run, or no such scheduler. */
  clear(): void {
    this.run?.stop();
    this.run = this.moment = undefined;
    this.rows.clear();
    this.find('.shares').replaceChildren();
    this.find('.reasons').replaceChildren();
    this.listed = '';
    for (const figure of ['.rate', '.p99', '.longest']) say(this.find(figure), '0');
    for (const text of ['.now', '.others', '.same', '.command code', '.report']) say(this.find(text), '');
    for (const name of ['.platter', '.waiting', '.strip']) paint(this.find(name), () => {});
    this.find('.save').hidden = true;
    say(this.find('.failure'), this.isKnown ? '' : `There is no scheduler “${this.text}”: choose one from the list.`);
  }

  /** Whether there is such a scheduler. */
  get isKnown(): boolean {
    return this.entry !== undefined;
  }

  /** Until when this pane can be shown; without a limit if it can go no further. */
  get known(): number {
    if (!this.run) return 0;
    return this.run.isDone ? Infinity : this.run.playback.known;
  }

  /** What it is called. */
  get name(): string {
    return this.text;
  }

  get end(): number {
    return this.run?.playback.known ?? 0;
  }

  /** The longest wait of all of the run, as far as it is known. */
  get longest(): number {
    return this.run?.playback.figures.longest.last(0) ?? 0;
  }

  /** Shows another instant. */
  draw(shared: Shared): void {
    const { run, moment } = this;
    if (!run || !moment) return;
    this.speed = shared.speed;
    moment.move(shared.at);
    this.showFigures(run, moment, shared.at);
    this.showShares(moment);
    this.showReasons(moment, shared);
    if (!run.head) {
      for (const name of ['.platter', '.waiting', '.strip']) paint(this.find(name), () => {});
      return;
    }
    const view: View = { ...shared, head: run.head, moment };
    paint(this.find('.platter'), (context, width, height) => platter(context, width, height, view));
    const scaled = { ...view, longest: shared.longest };
    paint(this.find('.waiting'), (context, width, height) => waiting(context, width, height, scaled));
    paint(this.find('.strip'), (context, width, height) => strip(context, width, height, view));
  }

  /** What is only known when more was told. A run that did not begin is told of only if it is `alone` in that. */
  showProgress(alone: boolean): void {
    const run = this.run;
    if (!run) return;
    const failure = run.hasBegun ? `This run broke off: ${run.failure}` : `This run could not begin: ${run.failure}`;
    say(this.find('.failure'), run.failure && (run.hasBegun || alone) ? failure : '');
    this.root.dataset['state'] = run.failure ? 'failed' : run.report ? 'done' : 'running';
    if (run.report && !this.find('.report').textContent) {
      say(this.find('.report'), JSON.stringify(run.report.result, null, 2));
    }
  }

  private showFigures(run: Run, moment: Moment, at: number): void {
    const first = run.playback.arrived.length ? run.playback.arrived.get(0) : 0;
    const seconds = Math.max(1e-9, (at - first) / 1e9);
    const isAll = run.report?.complete && at >= run.playback.known;
    const result = isAll ? run.report?.result : undefined;
    const rate = result ? result.throughput_bytes_per_s : moment.figure('bytes') / seconds;
    say(this.find('.rate'), digits(rate / 1e6));
    say(this.find('.p99'), time(result ? result.latency_ns.p99 : moment.figure('p99')));
    say(this.find('.longest'), time(result ? result.longest_wait_ns : moment.longestWait()));
    const waits = moment.outstanding.filter((request) => moment.isWaiting(request)).length;
    const inside = moment.outstanding.length - waits;
    say(this.find('.now'), `${waits} waiting, ${inside} in the drive`);
  }

  /** What was moved so far, for all or for one process: what the sentence above both panes compares. */
  bytesAt(process?: number): number {
    if (process !== undefined) return this.moment?.bytesOf(process) ?? 0;
    return this.moment?.figure('bytes') ?? 0;
  }

  /** The longest wait so far. */
  longestAt(): number {
    return this.moment?.longestWait() ?? 0;
  }

  /** The parts of the disk's time that processes have got and that their weights ask for, if they have different ones. */
  sharesAt(): { got?: number[]; due?: number[] } {
    const issuers = [...(this.run?.report?.result.issuers ?? [])].sort((a, b) => a.id - b.id);
    const { moment } = this;
    if (!moment || new Set(issuers.map((issuer) => issuer.weight)).size < 2) return {};
    const parts = (all: number[]): number[] => all.map((one) => one / Math.max(1, sum(all)));
    const got = issuers.map((issuer) => moment.timeOf(issuer.id));
    return sum(got) ? { got: parts(got), due: parts(issuers.map((issuer) => issuer.weight)) } : {};
  }

  /** What each process has got: data, or, where weights share the disk's time, time. */
  private showShares(moment: Moment): void {
    const processes = [...moment.playback.shares.keys()];
    const issuers = this.run?.report?.result.issuers ?? [];
    const weights = issuers.reduce((sum, issuer) => sum + issuer.weight, 0);
    const weighted = new Set(issuers.map((issuer) => issuer.weight)).size > 1;
    const many = processes.length > PROCESSES;
    say(this.find('.got'), weighted && !many ? 'Disk time so far, and what is due by weight' : 'Data so far');
    if (many) return this.showRange(moment, processes);
    const of = (process: number): number => (weighted ? moment.timeOf(process) : moment.bytesOf(process));
    const total = Math.max(1, processes.reduce((sum, process) => sum + of(process), 0));
    for (const process of processes) {
      const issuer = issuers.find((one) => one.id === process);
      const row = this.rows.get(process) ?? this.addRow(process);
      const [got, share] = [of(process), of(process) / total];
      row.bar.style.setProperty('--share', String(share));
      const due = weighted && issuer ? issuer.weight / weights : undefined;
      row.bar.style.setProperty('--wanted', String(due ?? -1));
      const wanted = due === undefined ? '' : `, due ${Math.round(100 * due)} %`;
      say(row.value, `${weighted ? time(got) : bytes(got)} · ${Math.round(100 * share)} %${wanted}`);
      const name = row.bar.previousElementSibling as HTMLElement;
      say(name, issuer?.name ? `${process} ${issuer.name}` : `process ${process}`);
    }
    say(this.find('.others'), '');
  }

  /** Of many processes, what the least and the most served one got. */
  private showRange(moment: Moment, processes: number[]): void {
    if (this.rows.size) {
      this.rows.clear();
      this.find('.shares').replaceChildren();
    }
    const got = processes.map((process) => moment.bytesOf(process));
    const [least, most] = [Math.min(...got), Math.max(...got)].map(bytes);
    say(this.find('.others'), `${processes.length} programs, which got from ${least} to ${most}`);
  }

  private addRow(process: number): Row {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' });
    bar.style.setProperty('--colour', `var(--p${colour(process)})`);
    const value = h('span', { class: 'value' });
    this.find('.shares').append(h('li', {}, h('span', { class: 'name' }), bar, value));
    const row = { bar, value };
    this.rows.set(process, row);
    return row;
  }

  private showReasons(moment: Moment, { playing, end }: Shared): void {
    const count = moment.decisions();
    const places = precise(end);
    const now = performance.now();
    const listed = `${count} ${places}`;
    if (listed === this.listed || (playing && now - this.listedAt < READABLE_MS)) return;
    this.listed = listed;
    this.listedAt = now;
    const { decisions } = moment.playback;
    const shown = decisions.slice(Math.max(0, count - LISTED), count).reverse();
    this.find('.reasons').replaceChildren(...shown.map((decision) => this.line(moment, decision, places)));
  }

  private line(moment: Moment, decision: Decision, places: number): HTMLElement {
    const { process } = moment.playback;
    const what = h('span', { class: 'what' });
    if (decision.request === undefined) {
      what.append(h('i', { class: 'swatch waits' }), `waits up to ${time(decision.until - decision.at)}`);
    } else {
      const who = process.get(decision.request);
      const swatch = h('i', { class: 'swatch' });
      swatch.style.background = `var(--p${colour(who)})`;
      what.append(swatch, this.sent(moment, decision, decision.request));
    }
    const why = decision.reason ? `because: ${reason(decision.reason)}` : '';
    return h('li', {}, h('time', {}, instant(decision.at, places)), what, h('span', { class: 'why' }, why));
  }

  private sent(moment: Moment, { sectors }: Decision, request: number): string {
    const { operation, process } = moment.playback;
    const verb = ['reads', 'writes', 'discards', 'flushes'][operation.get(request)];
    const length = operation.get(request) === 3 ? '' : ` ${size(sectors)}`;
    return `${verb}${length} for process ${process.get(request)}`;
  }

  /** Says what the drawings show, for whoever does not see them. */
  private describe(moment: Moment): void {
    const head = moment.head();
    const label = (selector: string, text: string): void => this.find(selector).setAttribute('aria-label', text);
    const where = this.run?.head?.tracks ? `The head is ${Math.round(100 * head.radius)} % of the way inwards. ` : '';
    label('.platter', `The disk from above under ${this.text}. ${where}${this.find('.now').textContent}.`);
    const waits = moment.outstanding.filter((request) => moment.isWaiting(request));
    const oldest = waits.length ? moment.at - moment.playback.issued.get(waits[0]) : 0;
    label('.waiting', `Who waits, by address and time: ${waits.length} requests, the oldest for ${time(oldest)}.`);
    const now = head.phase === 'idle' ? 'idle' : `busy, ${head.phase}`;
    label('.strip', `What the disk has been doing: ${spent(moment, this.speed)}. Now it is ${now}.`);
  }

  /** What happens now, in a sentence, for whoever listens. */
  sentence(): string {
    const moment = this.moment;
    if (!moment) return '';
    this.describe(moment);
    const count = moment.decisions();
    const last = count ? moment.playback.decisions[count - 1] : undefined;
    const rate = this.find('.rate').textContent;
    const does = last && (last.request === undefined ? 'waits' : this.sent(moment, last, last.request));
    const why = last?.reason ? `: ${reason(last.reason)}` : '';
    const what = does ? ` It ${does}${why}.` : '';
    return `${this.text}: ${rate} megabytes a second, ${this.find('.now').textContent}.${what}`;
  }

  /** Copies the command, or selects it where a page may not copy: a browser allows it over https only. */
  private async copy(): Promise<void> {
    const code = this.find('.command code');
    const said = this.find('.copied');
    try {
      await navigator.clipboard.writeText(code.textContent ?? '');
      say(said, 'Copied');
    } catch {
      getSelection()?.selectAllChildren(code);
      say(said, 'Selected: this browser lets you copy it yourself');
    }
    clearTimeout(this.copied);
    this.copied = setTimeout(() => say(said, ''), COPIED_MS);
  }

  /** Saves the load's text under the name that the command has for it. */
  private save(): void {
    const file = this.run && textFile(this.run.wanted.load);
    if (!file) return;
    const href = URL.createObjectURL(new Blob([file.text]));
    h('a', { href, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(href), COPIED_MS);
  }

  private find<T extends HTMLElement>(selector: string): T {
    const element = this.root.querySelector<T>(selector);
    if (!element) throw new Error(`a pane has no ${selector}`);
    return element;
  }
}

function sum(all: number[]): number {
  return all.reduce((total, one) => total + one, 0);
}
