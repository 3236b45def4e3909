// What several cases do with a page.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const call = promisify(execFile);

export const STEPS = ['seek', 'elevator', 'deceptive', 'anticipation', 'chain', 'shares', 'today'];

/** Waits until both runs are done. */
export async function done(page) {
  await page.waitForSelector('body[data-state=done]', { timeout: 60_000 });
}

/** Another address on the same page, and its runs. */
export async function visit(page, hash) {
  // The page hears of the address first, and begins its runs: what is done then are the new ones.
  await page.evaluate((next) => {
    if (location.hash === next) return undefined;
    const heard = new Promise((ready) => addEventListener('hashchange', ready, { once: true }));
    location.hash = next;
    return heard.then(() => undefined);
  }, hash);
  await done(page);
}

/** Puts a load of the user's own into the form and runs it. */
export async function bring(page, kind, fill) {
  await page.evaluate(() => (document.querySelector('#own').open = true));
  await page.check(`[name=kind][value=${kind}]`);
  await fill();
  await page.evaluate(() => delete document.body.dataset.state);
  await page.click('#own-form button');
  await done(page);
}

/** The report of a pane, as the page shows it. */
export async function report(page, side) {
  const text = await page.textContent(`#pane-${side} .report`);
  if (!text) throw new Error(`pane ${side}: ${await page.textContent(`#pane-${side} .failure`)}`);
  return JSON.parse(text);
}

/** What `idlewise run --json` says of the same. */
export async function ofProgram(words, cwd = undefined) {
  const { stdout } = await call(process.env.IDLEWISE, ['run', '--json', ...words], { maxBuffer: 1 << 26, cwd });
  return JSON.parse(stdout).result;
}

/** Waits until what was changed is drawn: the page draws once a frame. */
export async function drawn(page) {
  await page.evaluate(() => new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready))));
}
