// Numbers for people.

/** A span of time in nanoseconds, to three digits. */
export function time(ns: number): string {
  const rounded = threeDigits(ns);
  const [value, unit] = rounded >= 1e9 ? [ns / 1e9, 's'] : rounded >= 1e6 ? [ns / 1e6, 'ms'] : [ns / 1e3, 'µs'];
  return `${digits(value)} ${unit}`;
}

function threeDigits(value: number): number {
  return Number(value.toPrecision(3));
}

/** A number to three digits. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const rounded = threeDigits(value);
  const places = rounded >= 100 ? 0 : rounded >= 10 ? 1 : rounded >= 1 ? 2 : 3;
  return value.toFixed(places);
}

/** Places after the point that tell the instants of a run of this length apart. */
export function places(ns: number): number {
  return ns < 1e5 ? 9 : ns < 1e8 ? 6 : 3;
}

/** Places that also tell decisions of such a run apart. */
export function precise(ns: number): number {
  return Math.max(4, places(ns));
}

/** An instant of a run, in seconds. */
export function instant(ns: number, places: number): string {
  return `${(ns / 1e9).toFixed(places)} s`;
}

export function bytes(count: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let place = 0;
  while (threeDigits(count) >= 1000 && place < units.length - 1) {
    count /= 1000;
    place++;
  }
  return `${digits(count)} ${units[place]}`;
}

/** The size of a request. */
export function size(sectors: number): string {
  return sectors % 2 ? `${sectors * 512} bytes` : `${grouped(String(sectors / 2))} KiB`;
}

/** A scheduler's reason in the page's words. */
export function reason(text: string): string {
  return grouped(text.replace(/\bissuer(?=s?\b)/g, 'process').replace(/(?<=\d )us\b/g, 'µs'));
}

/** A text whose long numbers are written in groups of three. */
export function grouped(text: string): string {
  return text.replace(/\d{5,}/g, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, '\u202f'));
}
