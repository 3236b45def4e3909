// Runs the simulator beside the page, and posts what it tells as it tells it.

import { Module, Part } from './module';

/** A run that the page asks for; the module is compiled once, by the page. */
export interface Question {
  compiled: WebAssembly.Module;
  /** `undefined`: the catalogue. */
  wanted: string | undefined;
  trace: Uint8Array;
}

/** What the worker answers: bytes of this kind. */
export interface Answer {
  part: Part;
  bytes: Uint8Array<ArrayBuffer>;
}

function post(part: Part, bytes: Uint8Array<ArrayBuffer>): void {
  self.postMessage({ part, bytes } satisfies Answer, { transfer: [bytes.buffer] });
}

self.onmessage = async ({ data }: MessageEvent<Question>) => {
  let failed = false;
  try {
    const module = await Module.start(data.compiled);
    if (data.wanted === undefined) {
      post(Part.Catalogue, new TextEncoder().encode(module.catalogue()));
      return;
    }
    module.run(data.wanted, data.trace, (part, bytes) => {
      failed ||= part === Part.Failure;
      post(part, bytes);
    });
  } catch (error) {
    // After a panic the module has said why; the trap itself says nothing more.
    if (!failed) post(Part.Failure, new TextEncoder().encode(String(error)));
  }
};
