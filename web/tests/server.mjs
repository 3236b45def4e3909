// A web server for a folder, as plain as they come: it knows no type for .wasm.
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** Serves `folder` on a free port of this machine; its address, and how to end it. */
export async function serve(folder) {
  const server = createServer((question, answer) => {
    const path = normalize(decodeURIComponent(new URL(question.url, 'http://x').pathname));
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    if (!existsSync(file)) return answer.writeHead(404).end();
    answer.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}/`, end: () => server.close() };
}
