// Keys of the player: they act while the focus is in it, so that elsewhere they scroll, type and search as always.

export interface Actions {
  play(): void;
  step(way: 1 | -1): void;
  /** To a part of the run, from 0 to 1. */
  seek(part: number): void;
  speed(way: 1 | -1): void;
  story(place: number): void;
}

export function keys(player: HTMLElement, actions: Actions): void {
  player.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (target.closest('select') || (event.key === ' ' && target.closest('button'))) return;
    // Arrows, Home and End move the slider.
    if (target.closest('input') && event.key.length > 1) return;
    if (!act(event.key, actions)) return;
    event.preventDefault();
  });
}

function act(key: string, actions: Actions): boolean {
  if (/^[1-9]$/.test(key)) actions.story(Number(key) - 1);
  else if (key === ' ') actions.play();
  else if (key === 'ArrowRight') actions.step(1);
  else if (key === 'ArrowLeft') actions.step(-1);
  else if (key === 'Home') actions.seek(0);
  else if (key === 'End') actions.seek(1);
  else if (key === '+' || key === '=') actions.speed(1);
  else if (key === '-') actions.speed(-1);
  else return false;
  return true;
}
