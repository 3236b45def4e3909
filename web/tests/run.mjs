// Drives the built page in a real browser. What is tested is in cases.mjs; this starts the browser, runs every case, and
// prints a line for each. A name as argument runs only the cases whose names contain it; --update takes new screenshots.
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

import { cases } from './cases.mjs';
import { serve } from './server.mjs';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--force-color-profile=srgb',
  '--font-render-hinting=none',
  '--disable-lcd-text',
];

const words = process.argv.slice(2);
const update = words.includes('--update');
const wanted = words.filter((word) => !word.startsWith('--'));

const server = await serve(fileURLToPath(new URL('../dist', import.meta.url)));
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell', args: FLAGS });

/** A page at an address, with what it said on its console. */
async function open(hash, options = {}) {
  const context = await browser.newContext({
    viewport: { width: options.width ?? 1400, height: options.height ?? 1000 },
    colorScheme: options.scheme ?? 'light',
    reducedMotion: options.calm ? 'reduce' : 'no-preference',
  });
  const page = await context.newPage();
  const said = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && said.push(message.text()));
  page.on('pageerror', (error) => said.push(String(error)));
  // What another address breaks off, such as the icon's request by an early reload, is no failure.
  const aborted = (request) => request.failure()?.errorText === 'net::ERR_ABORTED';
  page.on('requestfailed', (request) => aborted(request) || said.push(`${request.url()} could not be loaded`));
  page.on('request', (request) => request.url().startsWith(server.address) || said.push(`asks ${request.url()}`));
  await page.goto(server.address + hash);
  return { page, said, close: () => context.close() };
}

let failed = 0;
for (const [name, run] of Object.entries(cases)) {
  if (wanted.length && !wanted.some((word) => name.includes(word))) continue;
  const began = Date.now();
  try {
    const note = await run({ open, update });
    console.log(`ok      ${((Date.now() - began) / 1000).toFixed(1)} s  ${name}${note ? `: ${note}` : ''}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${((Date.now() - began) / 1000).toFixed(1)} s  ${name}\n${error.stack ?? error}`);
  }
}
await browser.close();
server.end();
process.exitCode = failed ? 1 : 0;
