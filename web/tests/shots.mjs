// Screenshots of a paused page, compared with those in tests/shots. What differs is written to tests/new.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';

import { done, STEPS } from './helpers.mjs';

/** Dots that may differ: letters are drawn a little otherwise by each version of the browser. */
const DIFFERENT = 0.01;

const WHEN = { seek: 0.5, elevator: 3, deceptive: 0.4, anticipation: 0.3, chain: 2.5, shares: 1.2, today: 1 };

const VIEWS = [
  ...STEPS.map((step) => ({ step, width: 1400, scheme: 'light' })),
  { step: 'anticipation', width: 1400, scheme: 'dark' },
  { step: 'seek', width: 390, scheme: 'light' },
  { step: 'shares', width: 390, scheme: 'dark' },
];

const file = (folder, name) => new URL(`./${folder}/${name}.png`, import.meta.url);

function compare(name, taken) {
  const [ours, theirs] = [PNG.sync.read(readFileSync(file('shots', name))), PNG.sync.read(taken)];
  const sizes = [ours, theirs].map(({ width, height }) => `${width} x ${height}`);
  const kept = () => {
    mkdirSync(new URL('./new/', import.meta.url), { recursive: true });
    writeFileSync(file('new', name), taken);
  };
  if (sizes[0] !== sizes[1]) {
    kept();
    assert.fail(`${name} is ${sizes[1]}, not ${sizes[0]}`);
  }
  const { width, height } = ours;
  const different = pixelmatch(ours.data, theirs.data, undefined, width, height, { threshold: 0.2 }) / (width * height);
  if (different > DIFFERENT) kept();
  assert.ok(different <= DIFFERENT, `${name}: ${(100 * different).toFixed(2)} % of its dots differ; see web/tests/new`);
}

export const shots = {
  'screenshots': async ({ open, update }) => {
    rmSync(new URL('./new/', import.meta.url), { recursive: true, force: true });
    for (const { step, width, scheme } of VIEWS) {
      const name = `${step}-${width}-${scheme}`;
      const { page, close } = await open(`#step=${step}&t=${WHEN[step]}`, { width, scheme, height: 1300 });
      await done(page);
      await page.evaluate(() => document.fonts.ready);
      // Two frames, so that what was told last is drawn.
      await page.evaluate(() => new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready))));
      const taken = await page.screenshot({ animations: 'disabled' });
      if (update || !existsSync(file('shots', name))) {
        assert.ok(update, `there is no screenshot ${name} yet: look at one that --update makes`);
        mkdirSync(new URL('./shots/', import.meta.url), { recursive: true });
        writeFileSync(file('shots', name), taken);
      } else compare(name, taken);
      await close();
    }
    return `${VIEWS.length} views`;
  },
};
