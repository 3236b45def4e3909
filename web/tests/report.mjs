// The report that `idlewise compare --html` writes, in the same browser: it stands alone, draws its plots, sorts and filters.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { violations } from './access.mjs';

const call = promisify(execFile);

/** Gives `look` a report of a writer beside a reader, in a page of each width and scheme of `views`. */
async function reports(open, views, look) {
  const folder = mkdtempSync(join(tmpdir(), 'report-'));
  const path = join(folder, 'report.html');
  const load = ['--workload=write-and-read', '--disk=maxtor-40g', '--duration=3s', '--schedulers=linux,as,cas'];
  await call(process.env.IDLEWISE, ['compare', ...load, `--html=${path}`]);
  try {
    for (const view of views) {
      const { page, said, close } = await open('', view);
      said.length = 0;
      await page.goto(`file://${path}`);
      await page.waitForSelector('#close-up canvas');
      await look(page, `${view.scheme}, ${view.width}`);
      assert.deepStrictEqual(said, [`asks file://${path}`]);
      await close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const VIEWS = ['light', 'dark'].flatMap((scheme) => [390, 1400].map((width) => ({ scheme, width })));
const rows = (page) => page.$$eval('main section:has(.filter) tbody tr', (all) => all.filter((row) => !row.hidden).map((row) => row.cells[0].textContent));

export const report = {
  'a report fetches nothing, fits the screen, and axe finds nothing serious': ({ open }) =>
    reports(open, VIEWS, async (page, view) => {
      const [wide, screen] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= screen, `${view}: ${wide} wide on ${screen}`);
      // The names stay where they are while figures pass: they must leave room for some.
      const names = await page.$eval('main section:has(.filter) tbody th', (cell) => cell.offsetWidth);
      assert.ok(names < screen / 2, `${view}: names of schedulers are ${names} wide`);
      const cut = await page.$$eval('svg .name', (all) => all.filter((name) => name.getBBox().x < 0).map((name) => name.textContent));
      assert.deepStrictEqual(cut, [], view);
      assert.deepStrictEqual(await violations(page), [], view);
    }),

  'a report sorts, filters and shows other schedulers': ({ open }) =>
    reports(open, [{ scheme: 'light', width: 1400 }], async (page) => {
      const before = await rows(page);
      await page.click('main section:has(.filter) th:nth-child(1) button');
      assert.deepStrictEqual(await rows(page), [...before].sort((a, b) => a.localeCompare(b)));
      await page.fill('.filter input', 'AS');
      assert.deepStrictEqual(await rows(page), ['as', 'cas']);
      const drawn = () => page.$$eval('#dots figure b', (names) => names.map((name) => name.textContent));
      const other = (await page.$$eval('#shown label:not(.on)', (labels) => labels.map((label) => label.textContent.trim())))[0];
      const box = page.locator('#shown label:not(.on) input').first();
      assert.ok(!(await drawn()).includes(other));
      await (await box.elementHandle()).check();
      assert.ok((await drawn()).includes(other), other);
      await page.locator('#shown label.on', { hasText: other }).locator('input').first().uncheck();
      assert.ok(!(await drawn()).includes(other), other);
    }),
};
