// A run that is wanted, as crates/wasm/src/wanted.rs reads it, and as a command line has it.

export type Load = { workload: string } | { fio: string } | { trace: string };

export interface Wanted {
  scheduler: string;
  disk: string;
  load: Load;
  seed: number;
  duration?: string;
  max_requests?: number;
  shown: number;
}

function quoted(word: string): string {
  return /^[A-Za-z0-9\-_./=,:@%+]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command that gives the same figures. */
export function command(wanted: Wanted): string {
  const words = ['idlewise', 'run'];
  const { load } = wanted;
  if ('workload' in load) words.push('--workload', load.workload);
  else if ('fio' in load) words.push('--fio', 'job.fio');
  else words.push('--trace', load.trace);
  words.push('--disk', wanted.disk, '--scheduler', wanted.scheduler);
  if (wanted.seed !== 1) words.push('--seed', String(wanted.seed));
  if (wanted.duration) words.push('--duration', wanted.duration);
  if (wanted.max_requests) words.push('--max-requests', String(wanted.max_requests));
  return words.map(quoted).join(' ');
}
