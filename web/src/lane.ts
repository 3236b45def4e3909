// One scheduler on the page: its choice and settings, its disk, its figures, its reasons.

import { byId, h, say } from './dom';
import { paint } from './draw/canvas';
import { platter, type View } from './draw/platter';
import { strip } from './draw/strip';
import { colour, type Theme } from './draw/theme';
import { waiting } from './draw/waiting';
import { bytes, digits, instant, time } from './format';
import { Moment } from './moment';
import type { Decision } from './recording';
import { type Catalogue, Run, type SchedulerEntry } from './run';
import { controls, formatTuned, parseTuned } from './settings';
import { command, type Wanted } from './wanted';

/** Decisions that are listed. */
const LISTED = 5;
/** Processes that are listed; of more than that, only the range is told. */
const PROCESSES = 6;

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

/** What both lanes are drawn with. */
export interface Shared {
  theme: Theme;
  at: number;
  speed: number;
  still: boolean;
  longest: number;
}

interface Row {
  bar: HTMLElement;
  value: HTMLElement;
}

export class Lane {
  run: Run | undefined;
  private moment: Moment | undefined;
  private readonly root: HTMLElement;
  private readonly choose: HTMLSelectElement;
  private text = '';
  private entry: SchedulerEntry | undefined;
  private rows = new Map<number, Row>();
  private listed = -1;

  constructor(
    readonly side: 'a' | 'b',
    private readonly catalogue: Catalogue,
    private readonly changed: (text: string) => void,
  ) {
    this.root = byId(`lane-${side}`);
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
    say(this.find('.settings summary'), made.length ? `Settings${altered}` : 'No settings');
    this.find('.reset').hidden = count === 0;
  }

  /** Begins another run. */
  begin(wanted: Wanted, trace: Uint8Array, told: () => void): void {
    this.run?.stop();
    const run = new Run(wanted, trace, told);
    this.run = run;
    this.moment = new Moment(run.recording);
    this.rows.clear();
    this.find('.shares').replaceChildren();
    this.listed = -1;
    say(this.find('.command code'), command(wanted));
    say(this.find('.report'), '');
    say(this.find('.failure'), '');
  }

  /** Until when this lane can be shown; without a limit if it can go no further. */
  get known(): number {
    if (!this.run) return 0;
    return this.run.isDone ? Infinity : this.run.recording.known;
  }

  /** What it is called. */
  get name(): string {
    return this.text;
  }

  get end(): number {
    return this.run?.recording.known ?? 0;
  }

  /** The longest wait of all of the run, as far as it is known. */
  get longest(): number {
    return this.run?.recording.figures.longest.last(0) ?? 0;
  }

  /** Shows another instant. */
  draw(shared: Shared): void {
    const { run, moment } = this;
    if (!run || !moment) return;
    moment.move(shared.at);
    this.showFigures(run, moment, shared.at);
    this.showShares(moment);
    this.showReasons(moment);
    if (!run.head) return;
    const view: View = { ...shared, head: run.head, moment };
    paint(this.find('.platter'), (context, width, height) => platter(context, width, height, view));
    const scaled = { ...view, longest: shared.longest };
    paint(this.find('.waiting'), (context, width, height) => waiting(context, width, height, scaled));
    paint(this.find('.strip'), (context, width, height) => strip(context, width, height, view));
  }

  /** What is only known when more was told. */
  showProgress(): void {
    const run = this.run;
    if (!run) return;
    say(this.find('.failure'), run.failure ? `This run broke off: ${run.failure}` : '');
    this.root.dataset['state'] = run.failure ? 'failed' : run.report ? 'done' : 'running';
    if (run.report && !this.find('.report').textContent) {
      say(this.find('.report'), JSON.stringify(run.report.result, null, 2));
    }
  }

  private showFigures(run: Run, moment: Moment, at: number): void {
    const first = run.recording.arrived.length ? run.recording.arrived.get(0) : 0;
    const seconds = Math.max(1e-9, (at - first) / 1e9);
    const result = run.report && at >= run.recording.known ? run.report.result : undefined;
    const rate = result ? result.throughput_bytes_per_s : moment.figure('bytes') / seconds;
    say(this.find('.rate'), digits(rate / 1e6));
    say(this.find('.p99'), time(result ? result.latency_ns.p99 : moment.figure('p99')));
    say(this.find('.longest'), time(result ? result.longest_wait_ns : moment.longestWait()));
    const waits = moment.outstanding.filter((request) => moment.isWaiting(request)).length;
    const inside = moment.outstanding.length - waits;
    say(this.find('.now'), `${waits} waiting, ${inside} in the drive`);
  }

  /** What was moved so far, for all or for one process: what the sentence above both lanes compares. */
  bytesAt(process?: number): number {
    if (process !== undefined) return this.moment?.bytesOf(process) ?? 0;
    return this.moment?.figure('bytes') ?? 0;
  }

  /** The longest wait so far. */
  longestAt(): number {
    return this.moment?.longestWait() ?? 0;
  }

  private showShares(moment: Moment): void {
    const processes = [...moment.recording.shares.keys()];
    const total = Math.max(1, moment.figure('bytes'));
    const issuers = this.run?.report?.result.issuers ?? [];
    const weights = issuers.reduce((sum, issuer) => sum + issuer.weight, 0);
    const weighted = new Set(issuers.map((issuer) => issuer.weight)).size > 1;
    if (processes.length > PROCESSES) return this.showRange(moment, processes);
    for (const process of processes) {
      const issuer = issuers.find((one) => one.id === process);
      const row = this.rows.get(process) ?? this.addRow(process);
      const share = moment.bytesOf(process) / total;
      row.bar.style.setProperty('--share', String(share));
      if (weighted && issuer) row.bar.style.setProperty('--wanted', String(issuer.weight / weights));
      const due = weighted && issuer ? `, due ${Math.round((100 * issuer.weight) / weights)} %` : '';
      say(row.value, `${bytes(moment.bytesOf(process))} · ${Math.round(100 * share)} %${due}`);
      const name = row.bar.previousElementSibling as HTMLElement;
      say(name, issuer?.name ? `${process} ${issuer.name}` : `process ${process}`);
    }
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

  private showReasons(moment: Moment): void {
    const count = moment.decisions();
    if (count === this.listed) return;
    this.listed = count;
    const { decisions } = moment.recording;
    const shown = decisions.slice(Math.max(0, count - LISTED), count).reverse();
    this.find('.reasons').replaceChildren(...shown.map((decision) => this.line(moment, decision)));
  }

  private line(moment: Moment, decision: Decision): HTMLElement {
    const { process } = moment.recording;
    const what = h('span', { class: 'what' });
    if (decision.request === undefined) {
      what.append(h('i', { class: 'swatch waits' }), `waits up to ${time(decision.until - decision.at)}`);
    } else {
      const who = process.get(decision.request);
      const swatch = h('i', { class: 'swatch' });
      swatch.style.background = `var(--p${colour(who)})`;
      what.append(swatch, this.sent(moment, decision.request));
    }
    const why = decision.reason ? `because: ${decision.reason}` : '';
    return h('li', {}, h('time', {}, instant(decision.at)), what, h('span', { class: 'why' }, why));
  }

  private sent(moment: Moment, request: number): string {
    const { operation, process, sectors } = moment.recording;
    const verb = ['reads', 'writes', 'discards', 'flushes'][operation.get(request)];
    const size = operation.get(request) === 3 ? '' : ` ${bytes(sectors.get(request) * 512)}`;
    return `${verb}${size} for process ${process.get(request)}`;
  }

  /** Says what the drawings show, for whoever does not see them. */
  private describe(moment: Moment): void {
    const head = moment.head();
    const label = (selector: string, text: string): void => this.find(selector).setAttribute('aria-label', text);
    const where = this.run?.head?.tracks ? `The head is ${Math.round(100 * head.radius)} % of the way inwards. ` : '';
    label('.platter', `The disk from above under ${this.text}. ${where}${this.find('.now').textContent}.`);
    const waits = moment.outstanding.filter((request) => moment.isWaiting(request));
    const oldest = waits.length ? moment.at - moment.recording.issued.get(waits[0]) : 0;
    label('.waiting', `Who waits, by address and time: ${waits.length} requests, the oldest for ${time(oldest)}.`);
    label('.strip', `What the disk has been doing until now: ${head.phase === 'idle' ? 'idle' : `busy, ${head.phase}`}.`);
  }

  /** What happens now, in a sentence, for whoever listens. */
  sentence(): string {
    const moment = this.moment;
    if (!moment) return '';
    this.describe(moment);
    const count = moment.decisions();
    const last = count ? moment.recording.decisions[count - 1] : undefined;
    const rate = this.find('.rate').textContent;
    const what =
      last === undefined
        ? ''
        : last.request === undefined
          ? ` It waits: ${last.reason}.`
          : ` It ${this.sent(moment, last.request)}: ${last.reason}.`;
    return `${this.text}: ${rate} megabytes a second, ${this.find('.now').textContent}.${what}`;
  }

  private async copy(): Promise<void> {
    await navigator.clipboard.writeText(this.find('.command code').textContent ?? '');
    say(this.find('.copy'), 'Copied');
  }

  private find<T extends HTMLElement>(selector: string): T {
    const element = this.root.querySelector<T>(selector);
    if (!element) throw new Error(`a lane has no ${selector}`);
    return element;
  }
}
