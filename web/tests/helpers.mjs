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
  // Runs begin as soon as the page hears of the address: what is done then are the new ones.
  await page.evaluate((next) => {
    if (location.hash !== next) delete document.body.dataset.state;
    location.hash = next;
  }, hash);
  await done(page);
}

/** The report of a lane, as the page shows it. */
export async function report(page, side) {
  const text = await page.textContent(`#lane-${side} .report`);
  if (!text) throw new Error(`lane ${side}: ${await page.textContent(`#lane-${side} .failure`)}`);
  return JSON.parse(text);
}

/** What `idlewise run --json` says of the same. */
export async function ofProgram(words) {
  const { stdout } = await call(process.env.IDLEWISE, ['run', '--json', ...words], { maxBuffer: 1 << 26 });
  return JSON.parse(stdout).result;
}
