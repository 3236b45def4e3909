// The colours of drawings, as the style sheet has them for light or dark.

export interface Theme {
  ink: string;
  muted: string;
  line: string;
  ground: string;
  surface: string;
  lost: string;
  accent: string;
  processes: string[];
}

/** Processes that have a colour each; more of them share. */
export const COLOURS = 6;

export function theme(): Theme {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: of('ink'),
    muted: of('muted'),
    line: of('line'),
    ground: of('card'),
    surface: of('platter'),
    lost: of('lost'),
    accent: of('accent'),
    processes: Array.from({ length: COLOURS }, (_, place) => of(`p${place}`)),
  };
}

/** The place of a process's colour: those of workloads are numbered from 1. */
export function colour(process: number): number {
  return (((process - 1) % COLOURS) + COLOURS) % COLOURS;
}
