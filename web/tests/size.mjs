// What a visitor loads.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const MOST = 1_500_000;

export const size = {
  'the page is at most 1.5 MB, compressed': () => {
    const folder = fileURLToPath(new URL('../dist', import.meta.url));
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    // Node 18 calls the folder `path`, later ones `parentPath`.
    const bytes = files.map((one) => gzipSync(readFileSync(join(one.parentPath ?? one.path, one.name)), { level: 9 }).length);
    const all = bytes.reduce((sum, one) => sum + one, 0);
    assert.ok(files.length > 4 && all <= MOST, `${files.length} files, ${all} bytes`);
    return `${(all / 1e6).toFixed(2)} MB`;
  },
};
