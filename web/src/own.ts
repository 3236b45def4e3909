// A load of the user's own: a workload, a fio job, `.ops` text or a trace file, on any disk.

import { byId, h, say } from './dom';
import type { Catalogue } from './run';
import type { State } from './state';
import type { Load } from './wanted';

type Kind = 'workload' | 'fio' | 'ops' | 'trace';
type Change = Partial<Pick<State, 'disk' | 'load' | 'seed' | 'duration'>>;

const EXAMPLES: Record<Kind, string> = {
  workload: 'random:n=8,bs=16k,reads=70',
  fio: `[global]
bs=64k
size=1g
direct=1
ioengine=libaio

[reader]
rw=read

[writer]
rw=randwrite
iodepth=8
`,
  ops: `insert 0 R 1000000+8 by=1
+2200us insert 1 R 70000000+8 by=2
+1700us insert 2 W 1000008+8 by=1
+4900us insert 3 R 35000000+64 by=3
`,
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
  /** Until the file that was chosen last is read: whoever presses Run meanwhile means that file. */
  private reading: Promise<void> = Promise.resolve();
  /** Texts that were run: long ones are not in the address. */
  private readonly texts = new Map<string, string>();
  /** What was written last of each kind, whether it was run or not. */
  private readonly drafts = new Map<Kind, string>();
  /** What the form was filled with last. */
  private filled = '';

  constructor(
    private readonly catalogue: Catalogue,
    private readonly run: (change: Change) => void,
  ) {
    const option = (name: string, text: string): HTMLElement => h('option', { value: name }, text);
    this.disk.append(...catalogue.disks.map(({ name, description }) => option(name, `${name}: ${description}`)));
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      const submit = (): void => this.submit();
      void this.reading.then(submit, submit);
    });
    for (const radio of this.form.querySelectorAll<HTMLInputElement>('[name=kind]')) {
      radio.addEventListener('change', () => this.turn(radio.value as Kind));
    }
    this.text.addEventListener('input', () => this.drafts.set(this.kind, this.text.value));
    this.file.addEventListener('change', () => this.read(this.file.files?.[0]));
    // Only files: text that is dragged belongs to the field where it is dropped.
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
    addEventListener('drop', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      this.read(event.dataTransfer?.files[0], true);
    });
  }

  /** A load with its text, if it was run here before and only the address has no room for it. */
  whole(load: Load): Load {
    const [[kind, text]] = Object.entries(load);
    return text ? load : ({ [kind]: this.texts.get(kind) ?? '' } as Load);
  }

  /** The bytes of a load's trace file, if they are at hand. */
  trace(load: Load): Uint8Array | undefined {
    return 'trace' in load && this.given?.name === load.trace ? this.given.bytes : undefined;
  }

  /** What of a load is not in the address and not at hand, and how to bring it back. */
  lacks(load: Load): string | undefined {
    if ('trace' in load && !this.trace(load)) {
      return `This address is of a run of the trace file ${load.trace}. A file is not in the address: choose it below, or drop it on this page, and it runs again.`;
    }
    const what = 'fio' in load && !load.fio ? 'a fio job' : 'ops' in load && !load.ops ? '.ops text' : undefined;
    return what && `This address is of a run of ${what} that was too long for an address. Paste it below and run it again.`;
  }

  /** What is wrong with a load that need not be tried. */
  unknown(load: Load): string | undefined {
    const names = this.catalogue.workloads.map((one) => one.name);
    const name = 'workload' in load ? load.workload.split(':')[0] : names[0];
    return names.includes(name) ? undefined : `There is no workload “${name}”. There are ${names.join(', ')}.`;
  }

  /** Says at the load's field what is wrong with it; nothing is, without a text. */
  complain(problem = ''): void {
    if (byId('own-problem').textContent === problem) return;
    say(byId('own-problem'), problem);
    for (const field of [this.text, this.file]) {
      field.removeAttribute('aria-invalid');
      field.removeAttribute('aria-describedby');
    }
    if (!problem) return;
    this.open();
    const field = this.kind === 'trace' ? this.file : this.text;
    field.setAttribute('aria-invalid', 'true');
    field.setAttribute('aria-describedby', 'own-problem');
    field.focus();
  }

  /** Opens the form. */
  open(): void {
    byId<HTMLDetailsElement>('own').open = true;
  }

  /** What a state's load is, in a sentence. */
  describe({ load, disk }: State): string {
    const description = this.catalogue.disks.find((one) => one.name === disk.split(':')[0])?.description ?? disk;
    const what =
      'workload' in load
        ? `The workload ${load.workload}`
        : 'trace' in load
          ? `The trace ${load.trace}`
          : 'fio' in load
            ? 'A fio job'
            : '.ops text';
    return `${what}, on ${description}.`;
  }

  /** Puts a state into the form, unless it is what the form was filled with: then what is being written stays. */
  show({ load, disk, seed, duration }: State): void {
    const filled = JSON.stringify([load, disk, seed, duration]);
    if (filled === this.filled) return;
    this.filled = filled;
    const listed = [...this.disk.options].some((one) => one.value === disk);
    if (!listed) this.disk.append(h('option', { value: disk }, disk));
    this.disk.value = disk;
    this.seed.value = String(seed);
    this.duration.value = duration;
    if ('workload' in load) this.choose('workload', load.workload);
    else if ('fio' in load) this.choose('fio', load.fio);
    else if ('ops' in load) this.choose('ops', load.ops);
    else this.choose('trace', '');
  }

  private get kind(): Kind {
    return new FormData(this.form).get('kind') as Kind;
  }

  /** To another kind of load: what was written of it last, or an example. */
  private turn(kind: Kind): void {
    this.complain();
    this.choose(kind, this.drafts.get(kind) ?? EXAMPLES[kind]);
  }

  private choose(kind: Kind, text: string): void {
    this.form.querySelector<HTMLInputElement>(`[name=kind][value=${kind}]`)!.checked = true;
    this.text.value = text;
    this.drafts.set(kind, text);
    byId('own-text-label').hidden = kind === 'trace';
    byId('own-file-label').hidden = kind !== 'trace';
    const hints: Record<Kind, string> = {
      workload: `NAME:key=value,… where NAME is one of ${this.catalogue.workloads.map((one) => one.name).join(', ')}.`,
      fio: 'A job file of fio. Keys that are not modelled are named above when it runs.',
      ops: 'Requests with the time since the line before: +2ms insert ID R START+LENGTH by=PROCESS.',
      trace: this.given ? `${this.given.name} is at hand.` : '',
    };
    say(byId('own-hint'), hints[kind]);
  }

  private read(file: File | undefined, atOnce = false): void {
    if (file) this.reading = this.take(file, atOnce);
  }

  private async take(file: File, atOnce = false): Promise<void> {
    this.given = { name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) };
    this.choose('trace', '');
    this.open();
    if (atOnce) this.submit();
  }

  private submit(): void {
    const { kind } = this;
    const text = kind === 'trace' ? this.given?.name : kind === 'workload' ? this.text.value.trim() : this.text.value;
    if (!text) return this.complain(kind === 'trace' ? 'Choose a file first.' : 'Write or paste it first.');
    if (kind !== 'trace') this.texts.set(kind, text);
    const duration = this.duration.value.replaceAll(' ', '');
    this.run({ disk: this.disk.value, load: { [kind]: text } as Load, seed: Number(this.seed.value), duration });
  }
}
