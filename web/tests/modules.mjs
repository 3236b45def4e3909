// The page's modules, without a browser: what they make of what the simulator tells.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createServer } from 'vite';

const call = promisify(execFile);

/** Gives `use` a function that imports a module of web/src. */
async function imported(use) {
  const server = await createServer({
    root: fileURLToPath(new URL('..', import.meta.url)),
    configFile: false,
    logLevel: 'error',
    appType: 'custom',
    server: { middlewareMode: true, hmr: false, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true, include: [] },
  });
  try {
    return await use((name) => server.ssrLoadModule(`/src/${name}.ts`));
  } finally {
    await server.close();
  }
}

/** The playback of a run. */
async function played(load, wanted) {
  const [{ Module, Part }, { Playback }, { question }] = [await load('module'), await load('playback'), await load('wanted')];
  const compiled = await WebAssembly.compile(readFileSync(new URL('../src/idlewise.wasm', import.meta.url)));
  const module = await Module.start(compiled);
  const playback = new Playback();
  module.run(...question({ disk: 'maxtor-40g', seed: 1, shown: 100_000, ...wanted }, new Uint8Array()), (part, bytes) => {
    assert.notEqual(part, Part.Failure, new TextDecoder().decode(bytes));
    if (part === Part.Rows) playback.addRows(new Float64Array(bytes.buffer));
    if (part === Part.Reasons) playback.addReasons(new TextDecoder().decode(bytes));
  });
  return playback;
}

/** Neighbours that wait together: a request in front of another, one behind it, and one elsewhere. */
const NEIGHBOURS = `insert 0 R 1000000+8 by=1
+100us insert 5 R 70000000+8 by=4
+100us insert 1 R 5008+8 by=2
+100us insert 2 R 5016+16 by=5
+100us insert 3 R 5000+8 by=6
+100us insert 4 R 9000000+8 by=3
`;

export const modules = {
  'an address leads to the decision for which it was made': () =>
    imported(async (load) => {
      const { beginning, format, parse } = await load('state');
      let count = 0;
      for (const [step, scheduler] of [['seek', 'sstf'], ['anticipation', 'antic-c-look'], ['shares', 'antic-stride']]) {
        const state = beginning(step);
        const { decisions } = await played(load, { scheduler, load: state.load, disk: state.disk, duration: '2s' });
        for (const { at } of decisions) assert.equal(parse(format({ ...state, at })).at, at);
        count += decisions.length;
      }
      const short = parse('#step=seek&t=0.000258');
      assert.equal(short.at, 258_000);
      assert.equal(format({ ...short, at: 258_000.7 }), '#step=seek&t=0.000258');
      assert.ok(count > 500, `${count} decisions`);
      return `${count} decisions`;
    }),

  'an address asks for no time and no speed that cannot be shown': () =>
    imported(async (load) => {
      const { format, parse } = await load('state');
      for (const words of ['t=1e20', 'speed=1e-20', 'speed=1e300']) {
        const { at, speed } = parse(`#step=seek&${words}`);
        assert.ok(at + 1 > at && at <= Number.MAX_SAFE_INTEGER, `${words}: ${at}`);
        assert.ok(speed >= 1e-6 && speed <= 1e6, `${words}: ${speed}`);
        assert.equal(parse(format(parse(`#${words}`))).at, at);
      }
    }),

  'a decision has all that was merged, as --why has it': () =>
    imported(async (load) => {
      const folder = mkdtempSync(join(tmpdir(), 'idlewise-page-'));
      writeFileSync(join(folder, 'text.ops'), NEIGHBOURS);
      const words = ['--trace', 'text.ops', '--disk', 'maxtor-40g', '--scheduler', 'deadline'];
      const { stdout } = await call(process.env.IDLEWISE, ['run', '--why', ...words], { cwd: folder });
      rmSync(folder, { recursive: true });
      const told = [...stdout.matchAll(/ dispatch #\d+ R (\d+)\+(\d+) of/g)].map((line) => line.slice(1).map(Number));
      const { decisions } = await played(load, { scheduler: 'deadline', load: { ops: NEIGHBOURS } });
      assert.deepStrictEqual(decisions.map(({ start, sectors }) => [start, sectors]), told);
      assert.ok(told.some(([start, sectors]) => start === 5000 && sectors === 32), JSON.stringify(told));
    }),

  'numbers are written to three digits, reasons in the page’s words': () =>
    imported(async (load) => {
      const { bytes, digits, reason, time } = await load('format');
      assert.deepStrictEqual([999_499, 999_999, 999_999_999, 1.5e9].map(time), ['999 µs', '1.00 ms', '1.00 s', '1.50 s']);
      assert.deepStrictEqual([999, 999_999, 12_345].map(bytes), ['999 B', '1.00 MB', '12.3 kB']);
      assert.deepStrictEqual([0, 0.5, 9.999, 99.97, 12_345].map(digits), ['0', '0.500', '10.0', '100', '12345']);
      assert.equal(reason('issuer 2 has the disk for 345 us'), 'process 2 has the disk for 345 µs');
    }),

  'a file is no option of the command': () =>
    imported(async (load) => {
      const { command } = await load('wanted');
      const of = (trace) => command({ scheduler: 'noop', disk: 'nvme-ssd', load: { trace }, seed: 1, shown: 1 });
      assert.match(of('-x.ops'), / --trace \.\/-x\.ops --disk /);
      assert.match(of('--a b'), / --trace '\.\/--a b' --disk /);
      assert.match(of('x-.ops'), / --trace x-\.ops --disk /);
    }),

  'on the map what waits is full, and what is inside the drive is a ring': () =>
    imported(async (load) => {
      const { platter } = await load('draw/platter');
      const { Column } = await load('columns');
      const drawn = { fillRect: 0, strokeRect: 0 };
      const count = (name) => () => drawn[name]++;
      const context = { fillRect: count('fillRect'), strokeRect: count('strokeRect') };
      const [start, process] = [new Column(), new Column()];
      for (const request of [0, 1, 2]) [start, process].forEach((column) => column.push(request));
      const moment = { outstanding: [0, 1, 2], isWaiting: (request) => request > 0, playback: { start, process } };
      platter(context, 200, 200, { theme: { processes: [] }, head: { capacity: 10, tracks: null }, moment });
      // The map itself is one of each.
      assert.deepStrictEqual(drawn, { fillRect: 1 + 2, strokeRect: 1 + 1 });
    }),
};
