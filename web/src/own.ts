// A load of the user's own: a workload, a fio job, `.ops` text or a trace file, on any disk.

import { byId, h, say } from './dom';
import type { Catalogue } from './run';
import type { State } from './state';
import type { Load } from './wanted';

type Kind = 'workload' | 'fio' | 'ops' | 'trace';
type Change = Partial<Pick<State, 'disk' | 'load' | 'seed' | 'duration'>>;

/** How `.ops` text is called where a file has a name. */
export const OPS = 'text.ops';

const EXAMPLES: Record<Kind, string> = {
  workload: 'random:n=8,bs=16k,reads=70',
  fio: '[global]\nbs=64k\nruntime=4\ntime_based\n\n[reader]\nrw=read\nsize=1g\n\n[writer]\nrw=randwrite\nsize=1g\niodepth=8\n',
  ops: 'insert 0 R 1000000+8 by=1\n+2ms insert 1 R 70000000+8 by=2\n+2ms insert 2 W 1000008+8 by=1\n+5ms insert 3 R 35000000+64 by=3\n',
  trace: '',
};

export class OwnLoad {
  private readonly form = byId<HTMLFormElement>('own-form');
  private readonly text = byId<HTMLTextAreaElement>('own-text');
  private readonly disk = byId<HTMLSelectElement>('own-disk');
  private readonly seed = byId<HTMLInputElement>('own-seed');
  private readonly duration = byId<HTMLInputElement>('own-for');
  private readonly file = byId<HTMLInputElement>('own-file');
  private given: { name: string; bytes: Uint8Array } | undefined;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly run: (change: Change, trace: Uint8Array | undefined) => void,
  ) {
    this.disk.append(...catalogue.disks.map(({ name, description }) => h('option', { value: name }, `${name}: ${description}`)));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      void this.submit();
    });
    for (const radio of this.form.querySelectorAll<HTMLInputElement>('[name=kind]')) {
      radio.addEventListener('change', () => this.choose(radio.value as Kind, EXAMPLES[radio.value as Kind]));
    }
    this.file.addEventListener('change', () => this.file.files?.[0] && void this.take(this.file.files[0]));
    addEventListener('dragover', (event) => event.preventDefault());
    addEventListener('drop', (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.take(file, true);
    });
  }

  /** What a state's load is, in a sentence. */
  describe({ load, disk }: State): string {
    const description = this.catalogue.disks.find((one) => one.name === disk.split(':')[0])?.description ?? disk;
    const what =
      'workload' in load ? `The workload ${load.workload}` : 'fio' in load ? 'A fio job' : `The trace ${load.trace}`;
    return `${what}, on ${description}.`;
  }

  /** Puts a state into the form. */
  show({ load, disk, seed, duration }: State): void {
    if (!this.catalogue.disks.some((one) => one.name === disk) && !this.disk.querySelector(`[value="${CSS.escape(disk)}"]`)) {
      this.disk.append(h('option', { value: disk }, disk));
    }
    this.disk.value = disk;
    this.seed.value = String(seed);
    this.duration.value = duration;
    if ('workload' in load) this.choose('workload', load.workload);
    else if ('fio' in load) this.choose('fio', load.fio);
    else if (load.trace === OPS) this.choose('ops', this.text.value);
    else this.choose('trace', '');
  }

  private get kind(): Kind {
    return new FormData(this.form).get('kind') as Kind;
  }

  private choose(kind: Kind, text: string): void {
    this.form.querySelector<HTMLInputElement>(`[name=kind][value=${kind}]`)!.checked = true;
    this.text.value = text;
    byId('own-text-label').hidden = kind === 'trace';
    byId('own-file-label').hidden = kind !== 'trace';
    const hints: Record<Kind, string> = {
      workload: `NAME:key=value,… where NAME is one of ${this.catalogue.workloads.map((one) => one.name).join(', ')}.`,
      fio: 'A job file of fio. Keys that are not modelled are named above when it runs.',
      ops: 'Requests with the time since the line before, as in the files of golden tests: +2ms insert ID R START+LENGTH by=PROCESS.',
      trace: this.given ? `${this.given.name} is at hand.` : '',
    };
    say(byId('own-hint'), hints[kind]);
  }

  private async take(file: File, atOnce = false): Promise<void> {
    this.given = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    this.choose('trace', '');
    byId<HTMLDetailsElement>('own').open = true;
    if (atOnce) await this.submit();
  }

  private async submit(): Promise<void> {
    const { kind } = this;
    const text = this.text.value;
    if (kind === 'trace' && !this.given) return say(byId('own-hint'), 'Choose a file first.');
    const load: Load =
      kind === 'workload' ? { workload: text.trim() } : kind === 'fio' ? { fio: text } : { trace: kind === 'ops' ? OPS : this.given!.name };
    const trace = kind === 'ops' ? new TextEncoder().encode(text) : kind === 'trace' ? this.given!.bytes : undefined;
    const change = { disk: this.disk.value, load, seed: Number(this.seed.value), duration: this.duration.value.replaceAll(' ', '') };
    this.run(change, trace);
  }
}
