// Numbers for people.

/** A span of time in nanoseconds, to three digits. */
export function time(ns: number): string {
  const [value, unit] = ns >= 1e9 ? [ns / 1e9, 's'] : ns >= 1e6 ? [ns / 1e6, 'ms'] : [ns / 1e3, 'µs'];
  return `${digits(value)} ${unit}`;
}

/** A number to three digits. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const places = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  return value.toFixed(places);
}

/** An instant of a run, in seconds. */
export function instant(ns: number, places = 4): string {
  return `${(ns / 1e9).toFixed(places)} s`;
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let place = 0;
  while (count >= 1000 && place < units.length - 1) {
    count /= 1000;
    place++;
  }
  return `${digits(count)} ${units[place]}`;
}
