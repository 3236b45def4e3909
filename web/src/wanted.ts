// A run that is wanted, as crates/wasm/src/wanted.rs reads it, and as a command line has it.

/** What the disk is asked to do; a trace is the name of a file, whose bytes the page has or lacks. */
export type Load = { workload: string } | { fio: string } | { ops: string } | { trace: string };

export interface Wanted {
  scheduler: string;
  disk: string;
  load: Load;
  seed: number;
  duration?: string;
  shown: number;
}

/** A load's text as a file beside the command: its name, and what is in it. */
export function textFile(load: Load): { name: string; text: string } | undefined {
  if ('fio' in load) return { name: 'job.fio', text: load.fio };
  return 'ops' in load ? { name: 'text.ops', text: load.ops } : undefined;
}

/** A run as the simulator is asked for it: `.ops` text is a trace to it, whose bytes come beside what is wanted. */
export function question(wanted: Wanted, trace: Uint8Array): [string, Uint8Array] {
  const { load } = wanted;
  if (!('ops' in load)) return [JSON.stringify(wanted), trace];
  const file = textFile(load)!;
  return [JSON.stringify({ ...wanted, load: { trace: file.name } }), new TextEncoder().encode(file.text)];
}

function quoted(word: string): string {
  return /^[A-Za-z0-9\-_./=,:@%+]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A file's name as a word that no program takes for an option. */
function file(name: string): string {
  return name.startsWith('-') ? `./${name}` : name;
}

/** The command that gives the same figures. */
export function command(wanted: Wanted): string {
  const words = ['idlewise', 'run'];
  const { load } = wanted;
  if ('workload' in load) words.push('--workload', load.workload);
  else if ('fio' in load) words.push('--fio', textFile(load)!.name);
  else words.push('--trace', 'trace' in load ? file(load.trace) : textFile(load)!.name);
  words.push('--disk', wanted.disk, '--scheduler', wanted.scheduler);
  if (wanted.seed !== 1) words.push('--seed', String(wanted.seed));
  if (wanted.duration) words.push('--duration', wanted.duration);
  return words.map(quoted).join(' ');
}
