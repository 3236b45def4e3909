// The page's figures are those of `idlewise run --json`: every scheduler and selector, on three loads, and loads that the
// user brings.
import assert from 'node:assert/strict';

import { bring, done, ofProgram, report, visit } from './helpers.mjs';

const LOADS = [
  { workload: 'sync-streams:n=2,requests=300,think=1ms', disk: 'maxtor-40g' },
  { workload: 'stream-and-chain:files=300,directories=15', disk: 'hdd-18tb-7200' },
  { workload: 'random:n=24,requests=60,reads=60', disk: 'nvme-ssd' },
];
const FOR = '3s';

const JOB = `[global]
bs=64k
size=8m
[reader]
rw=read
[writer]
rw=randwrite
iodepth=8
`;

const OPS = `# Four requests.
device depth=1
scheduler noop
insert 0 R 1000000+8 by=1 = queued
+2ms insert 1 R 70000000+8 by=2 = queued
dispatch = 0
+2ms insert 2 W 1000008+8 by=1
+5ms insert 3 R 35000000+64 by=3
`;

async function schedulers(page) {
  return page.$$eval('#pane-a .scheduler option', (options) => options.map((option) => option.value));
}

export const equal = {
  'figures equal those of the program: all schedulers, three loads': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&t=0.1');
    await done(page);
    const names = await schedulers(page);
    assert.ok(names.length > 40, `${names.length} schedulers`);
    let compared = 0;
    for (const { workload, disk } of LOADS) {
      for (let place = 0; place < names.length; place += 2) {
        const pair = [names[place], names[(place + 1) % names.length]];
        const words = new URLSearchParams({ step: 'seek', a: pair[0], b: pair[1], disk, load: `workload:${workload}`, for: FOR, t: '0.1' });
        const wanted = pair.map((name) =>
          ofProgram(['--scheduler', name, '--workload', workload, '--disk', disk, '--duration', FOR]),
        );
        await visit(page, `#${words}`);
        for (const [index, side] of ['a', 'b'].entries()) {
          assert.deepStrictEqual(await report(page, side), await wanted[index], `${pair[index]}, ${workload}`);
          compared++;
        }
      }
    }
    assert.deepStrictEqual(said, []);
    await close();
    return `${compared} reports`;
  },

  'settings reach the simulator, and the command says them': async ({ open }) => {
    const { page, close } = await open('#step=elevator&a=deadline:fifo_batch=2;read_expire=50&b=deadline&t=1');
    await done(page);
    const [given, usual] = [await report(page, 'a'), await report(page, 'b')];
    assert.notDeepStrictEqual(given.latency_ns, usual.latency_ns);
    const command = await page.textContent('#pane-a .command code');
    const words = command.split(' ').map((word) => word.replaceAll("'", '')).slice(2);
    assert.deepStrictEqual(given, await ofProgram(words));
    await close();
  },

  'a fio job of the user': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&t=0.1');
    await done(page);
    await bring(page, 'fio', () => page.fill('#own-text', JOB));
    const { writeFileSync, rmSync, mkdtempSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/idlewise-page-');
    writeFileSync(`${folder}/job.fio`, JOB);
    const wanted = await ofProgram(['--scheduler', 'noop', '--fio', `${folder}/job.fio`, '--disk', 'maxtor-40g', '--duration', '4s']);
    rmSync(folder, { recursive: true });
    assert.deepStrictEqual(await report(page, 'a'), wanted);
    // The address has the load: whoever gets it sees the same.
    assert.match(await page.evaluate(() => decodeURIComponent(location.hash)), /load=fio:\[global\]/);
    assert.deepStrictEqual(said, []);
    await close();
  },

  '.ops text and a trace file of the user': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&t=0.1');
    await done(page);
    const { writeFileSync, rmSync, mkdtempSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/idlewise-page-');
    writeFileSync(`${folder}/text.ops`, OPS);
    const words = ['--scheduler', 'noop', '--disk', 'maxtor-40g', '--duration', '4s', '--trace'];
    const wanted = await ofProgram([...words, `${folder}/text.ops`]);
    assert.equal(wanted.requests, 4);
    await bring(page, 'ops', () => page.fill('#own-text', OPS));
    assert.deepStrictEqual(await report(page, 'a'), wanted);
    const demo = new URL('../../traces/demo.ftrace.zst', import.meta.url).pathname;
    await bring(page, 'trace', () => page.setInputFiles('#own-file', demo));
    assert.deepStrictEqual(await report(page, 'a'), await ofProgram([...words, demo]));
    rmSync(folder, { recursive: true });
    assert.deepStrictEqual(said, []);
    await close();
  },

  'what cannot run says why, as text': async ({ open }) => {
    const { page, said, close } = await open('#step=seek&t=0.1');
    await done(page);
    const words = new URLSearchParams({ step: 'seek', a: '<img src=x onerror=alert(1)>', load: 'workload:random:n=nonsense', t: '0.1' });
    await visit(page, `#${words}`);
    assert.match(await page.textContent('#pane-a .failure'), /<img/);
    assert.match(await page.textContent('#own-problem'), /nonsense/);
    assert.equal(await page.textContent('#pane-b .failure'), '');
    assert.equal(await page.$('img'), null);
    await visit(page, '#step=shares&t=0.1');
    assert.equal(await page.textContent('#pane-a .failure'), '');
    assert.deepStrictEqual(said, []);
    await close();
  },
};
