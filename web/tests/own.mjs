// Loads of the user's own: what the address keeps, what is saved and copied, what is wrong with them, dragging.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { bring, done, drawn, ofProgram, report, visit } from './helpers.mjs';

const OPS = `insert 0 R 1000000+8 by=1
+1ms insert 1 R 70000000+8 by=2
`;
const JOB = '[a]\nrw=randread\nbs=64k\nsize=8m\n';
const DEMO = new URL('../../traces/demo.ftrace.zst', import.meta.url).pathname;

const TEXTS = { ops: { name: 'text.ops', text: OPS }, fio: { name: 'job.fio', text: JOB } };

async function begun(open) {
  const opened = await open('#step=seek&t=0.1');
  await done(opened.page);
  return opened;
}

/** Begins to wait for other runs. */
const anew = (page) => page.evaluate(() => delete document.body.dataset.state);

export const own = {
  'a short text is in the address': async ({ open }) => {
    for (const [kind, { text }] of Object.entries(TEXTS)) {
      const { page, said, close } = await begun(open);
      await bring(page, kind, () => page.fill('#own-text', text));
      const first = await report(page, 'a');
      await page.reload();
      await done(page);
      assert.deepStrictEqual(await report(page, 'a'), first);
      assert.equal(await page.inputValue('#own-text'), text);
      assert.deepStrictEqual(said, []);
      await close();
    }
  },

  'of a long text or a file the address says what is missing': async ({ open }) => {
    const { page, said, close } = await begun(open);
    await bring(page, 'ops', () => page.fill('#own-text', `# ${'long '.repeat(1000)}\n${OPS}`));
    const first = await report(page, 'a');
    // While the page is there, so is the text.
    const address = await page.evaluate(() => location.hash);
    await visit(page, '#step=shares&t=0.1');
    await visit(page, address);
    assert.deepStrictEqual(await report(page, 'a'), first);
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#title').textContent === 'The load is missing');
    assert.match(await page.textContent('#text'), /\.ops text .* too long .* Paste it below/);

    await bring(page, 'trace', () => page.setInputFiles('#own-file', DEMO));
    const traced = await report(page, 'a');
    await page.reload();
    await page.waitForFunction(() => document.querySelector('#title').textContent === 'The load is missing');
    assert.match(await page.textContent('#text'), /trace file demo\.ftrace\.zst\. .* choose it below/);
    assert.equal(await page.textContent('#pane-a .report'), '');
    await bring(page, 'trace', () => page.setInputFiles('#own-file', DEMO));
    assert.deepStrictEqual(await report(page, 'a'), traced);
    assert.deepStrictEqual(said, []);
    await close();
  },

  'the command finds the text that the page saves': async ({ open }) => {
    for (const [kind, { name, text }] of Object.entries(TEXTS)) {
      const { page, close } = await begun(open);
      await bring(page, kind, () => page.fill('#own-text', text));
      await page.evaluate(() => document.querySelectorAll('.exact').forEach((one) => (one.open = true)));
      const [saved] = await Promise.all([page.waitForEvent('download'), page.click('#pane-a .save')]);
      assert.equal(saved.suggestedFilename(), name);
      const folder = mkdtempSync(join(tmpdir(), 'idlewise-page-'));
      await saved.saveAs(join(folder, name));
      assert.equal(readFileSync(join(folder, name), 'utf8'), text);
      const words = (await page.textContent('#pane-a .command code')).split(' ').slice(2);
      assert.deepStrictEqual(await ofProgram(words, folder), await report(page, 'a'));
      rmSync(folder, { recursive: true });
      await close();
    }
  },

  'without a clipboard the command is selected': async ({ open }) => {
    const { page, said, close } = await begun(open);
    await page.evaluate(() => {
      Object.defineProperty(navigator, 'clipboard', { value: undefined });
      document.querySelectorAll('.exact').forEach((one) => (one.open = true));
    });
    await page.click('#pane-a .copy');
    assert.match(await page.textContent('#pane-a .copied'), /^Selected/);
    assert.equal(await page.evaluate(() => String(getSelection())), await page.textContent('#pane-a .command code'));
    await page.waitForFunction(() => document.querySelector('#pane-a .copied').textContent === '');
    assert.deepStrictEqual(said, []);
    await close();
  },

  'notes are a list, and a short run has its own precision': async ({ open }) => {
    const { page, close } = await begun(open);
    await bring(page, 'ops', () => page.fill('#own-text', OPS));
    const notes = await page.$$eval('#notes li', (all) => all.map((one) => one.textContent));
    assert.ok(notes.some((note) => /^text\.ops does not tell/.test(note)), notes.join(' | '));
    await drawn(page);
    assert.match(await page.textContent('#time'), /^\d\.\d{6} s of \d\.\d{6} s$/);
    await page.focus('#controls');
    await page.keyboard.press('End');
    await drawn(page);
    assert.match(await page.textContent('#pane-a .reasons time'), /^\d\.\d{6} s$/);
    await close();
  },

  'Run waits for a file that is still being read': async ({ open }) => {
    const { page, close } = await open('#step=seek');
    await done(page);
    await page.evaluate(() => {
      const read = File.prototype.arrayBuffer;
      File.prototype.arrayBuffer = function () {
        return new Promise((ready) => setTimeout(ready, 300)).then(() => read.call(this));
      };
    });
    await bring(page, 'trace', () => page.setInputFiles('#own-file', DEMO));
    assert.ok((await report(page, 'a')).requests > 0);
    await close();
  },

  'what is written and not run stays': async ({ open }) => {
    const { page, said, close } = await begun(open);
    await page.evaluate(() => (document.querySelector('#own').open = true));
    const turn = (kind) => page.check(`[name=kind][value=${kind}]`);
    await turn('fio');
    await page.fill('#own-text', JOB);
    await turn('ops');
    await page.fill('#own-text', OPS);
    await page.fill('#own-seed', '7');
    await turn('fio');
    assert.equal(await page.inputValue('#own-text'), JOB);
    await turn('ops');
    await anew(page);
    await page.selectOption('#pane-a .scheduler', 'deadline');
    await done(page);
    assert.equal(await page.inputValue('#own-text'), OPS);
    assert.equal(await page.inputValue('#own-seed'), '7');
    await visit(page, '#step=shares&t=0.1');
    assert.match(await page.inputValue('#own-text'), /^[a-z-]+:/);
    assert.equal(await page.inputValue('#own-seed'), '1');
    assert.deepStrictEqual(said, []);
    await close();
  },

  'the examples are taken without a warning': async ({ open }) => {
    const { page, close } = await begun(open);
    for (const kind of ['workload', 'fio', 'ops']) {
      await bring(page, kind, () => {});
      await report(page, 'a');
      const notes = await page.$$eval('#notes li', (all) => all.map((one) => one.textContent));
      // No .ops text tells when its requests were done.
      assert.deepStrictEqual(notes.filter((note) => !/does not tell the completions/.test(note)), [], kind);
    }
    await close();
  },

  'what is wrong with a load is said once, at its field': async ({ open }) => {
    const { page, said, close } = await begun(open);
    for (const [text, message] of [['randm:n=3', /“randm”.* random, /], ['random:m=3', /no option 'm'/]]) {
      await bring(page, 'workload', () => page.fill('#own-text', text));
      assert.match(await page.textContent('#own-problem'), message);
      assert.equal(await page.evaluate(() => document.activeElement.id), 'own-text');
      const shown = await page.$$eval('.failure', (all) => all.map((one) => one.textContent).join(''));
      assert.doesNotMatch(shown, /broke off|idlewise list/);
      assert.equal(shown, await page.textContent('#own-problem'));
    }
    await bring(page, 'workload', () => page.fill('#own-text', 'random:n=3,requests=5'));
    assert.equal(await page.textContent('#own-problem'), '');
    await report(page, 'a');
    for (const [field, good, bad] of [
      ['#own-for', ['4s', '.5 ms', '1.5s', '100us'], ['1.2.3s', '4', '1m', '.s', '0s', '.00 ms']],
      ['#own-seed', ['0', '9007199254740991'], ['9007199254740993', '-1', '1.5']],
    ]) {
      for (const text of [...good, ...bad]) {
        await page.fill(field, text);
        const message = await page.$eval(field, (one) => one.validationMessage);
        assert.equal(message === '', good.includes(text), `${field} ${text}: ${message}`);
      }
    }
    assert.deepStrictEqual(said, []);
    await close();
  },

  'a dropped file is run, dragged text stays text': async ({ open }) => {
    const { page, said, close } = await begun(open);
    await bring(page, 'trace', () => page.setInputFiles('#own-file', DEMO));
    const chosen = await report(page, 'a');
    await visit(page, '#step=seek&t=0.1');
    const devtools = await page.context().newCDPSession(page);
    const drag = async ([x, y], data) => {
      for (const type of ['dragEnter', 'dragOver', 'drop']) {
        await devtools.send('Input.dispatchDragEvent', { type, x, y, data: { items: [], dragOperationsMask: 1, ...data } });
      }
    };
    await anew(page);
    await drag([300, 300], { files: [DEMO] });
    await done(page);
    assert.deepStrictEqual(await report(page, 'a'), chosen);

    await page.check('[name=kind][value=ops]');
    await page.fill('#own-text', '');
    await page.locator('#own-text').scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator('#own-text').boundingBox();
    await drag([x + width / 2, y + height / 2], { items: [{ mimeType: 'text/plain', data: OPS }] });
    await page.waitForFunction((text) => document.querySelector('#own-text').value.trim() === text.trim(), OPS);
    assert.deepStrictEqual(said, []);
    await close();
  },

  'programs share colours, and the legend says so': async ({ open }) => {
    const { page, close } = await begun(open);
    assert.match(await page.textContent('.legend'), /6 colours, which repeat for 32 programs/);
    assert.equal(await page.getAttribute('.legend', 'aria-hidden'), null);
    await drawn(page);
    assert.match(await page.getAttribute('#pane-a .strip', 'aria-label'), /last \d+ ms \d+ % moving and turning, \d+ % data/);
    await close();
  },

  'three programs have a colour each, and the step of shares ends with shares': async ({ open }) => {
    const { page, close } = await open('#step=shares&t=1.2');
    await done(page);
    assert.doesNotMatch(await page.textContent('.legend'), /repeat/);
    await drawn(page);
    assert.match(await page.textContent('#verdict'), /antic-stride 15, 28 and 56\s%\. Their weights ask for 14, 29 and 57\s%\.$/);
    await close();
  },
};
