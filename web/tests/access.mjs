// For everybody: axe, widths, reduced motion, the keyboard's way through the page.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { done, drawn, STEPS, visit } from './helpers.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds that is serious or worse. */
export async function violations(page) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  return violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`);
}

export const access = {
  'axe finds nothing serious': async ({ open }) => {
    for (const scheme of ['light', 'dark']) {
      for (const width of [390, 1400]) {
        const { page, close } = await open('#step=shares&t=1', { scheme, width });
        await done(page);
        assert.deepStrictEqual(await violations(page), [], `${scheme}, ${width}`);
        await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
        assert.deepStrictEqual(await violations(page), [], `${scheme}, ${width}, all open`);
        await close();
      }
    }
  },

  'nothing is wider than the screen': async ({ open }) => {
    const { page, close } = await open('#step=seek&t=0.1');
    await done(page);
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    for (const step of STEPS) {
      await visit(page, `#step=${step}&t=0.1`);
      for (const width of [360, 390, 768, 1000, 1400]) {
        await page.setViewportSize({ width, height: 1000 });
        await drawn(page);
        const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
        assert.equal(screen, width);
        assert.ok(wide <= screen, `${step} is ${wide} wide on ${screen}`);
      }
    }
    await close();
  },

  'who wants less motion gets a page that stands still': async ({ open }) => {
    const { page, close } = await open('#step=seek', { calm: true });
    await done(page);
    await drawn(page);
    assert.equal(await page.getAttribute('#play', 'aria-label'), 'Play');
    assert.match(await page.textContent('#time'), /^0\.000 s/);
    await close();
  },

  'the page’s first link leads to the player, and the state stays': async ({ open }) => {
    const { page, said, close } = await open('#step=shares&t=0.5&seed=3&speed=0.01');
    await done(page);
    const address = () => page.evaluate(() => location.hash);
    const before = await address();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.id === 'controls');
    assert.equal(await address(), before);
    assert.equal(await page.textContent('#count'), 'Step 6 of 7');
    await page.evaluate(() => (location.hash = '#look'));
    await page.waitForFunction((hash) => location.hash === hash, before);
    assert.equal(await page.textContent('#count'), 'Step 6 of 7');
    assert.deepStrictEqual(said, []);
    await close();
  },

  'the keyboard reaches everything': async ({ open }) => {
    const { page, close } = await open('#step=shares&t=0.5');
    await done(page);
    const reached = new Set();
    for (let press = 0; press < 60; press++) {
      await page.keyboard.press('Tab');
      reached.add(await page.evaluate(() => {
        const { id, className, tagName, textContent } = document.activeElement;
        return id || className || `${tagName} ${textContent.trim()}`;
      }));
    }
    for (const one of ['skip', 'scheduler', 'SUMMARY Settings', 'SUMMARY Try another load or disk', 'back', 'play', 'step', 'scrub', 'speed']) {
      assert.ok(reached.has(one), `${one} is not among ${[...reached].join('; ')}`);
    }
    await close();
  },
};
