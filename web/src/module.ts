// The WebAssembly module of crates/wasm, as functions. `Part` is its enum of the same name.

export enum Part {
  Rows = 0,
  Reasons = 1,
  Head = 2,
  Report = 3,
  Failure = 4,
  Catalogue = 5,
}

/** Takes what the module tells; the bytes are its own copy. */
export type Tell = (part: Part, bytes: Uint8Array<ArrayBuffer>) => void;

interface Exports {
  memory: WebAssembly.Memory;
  allocate(length: number): number;
  list(): void;
  run(wanted: number, wantedLength: number, trace: number, traceLength: number): void;
}

export class Module {
  private constructor(
    private readonly exports: Exports,
    private readonly listener: { tell: Tell },
  ) {}

  /** A fresh instance of the compiled module: each run has its own memory. */
  static async start(compiled: WebAssembly.Module): Promise<Module> {
    const listener: { tell: Tell } = { tell: () => {} };
    let memory: WebAssembly.Memory;
    const tell = (part: Part, start: number, length: number): void => {
      listener.tell(part, new Uint8Array(memory.buffer, start, length).slice());
    };
    const instance = await WebAssembly.instantiate(compiled, { page: { tell } });
    const exports = instance.exports as unknown as Exports;
    memory = exports.memory;
    return new Module(exports, listener);
  }

  /** What there is to choose from, as JSON. */
  catalogue(): string {
    let text = '';
    this.listener.tell = (_, bytes) => {
      text = new TextDecoder().decode(bytes);
    };
    this.exports.list();
    return text;
  }

  /** Runs what `wanted` says, as JSON, to its end, and tells everything on the way. */
  run(wanted: string, trace: Uint8Array, tell: Tell): void {
    this.listener.tell = tell;
    const given = [new TextEncoder().encode(wanted), trace].map((bytes) => {
      const start = this.exports.allocate(bytes.length);
      new Uint8Array(this.exports.memory.buffer, start, bytes.length).set(bytes);
      return [start, bytes.length] as const;
    });
    this.exports.run(...given[0], ...given[1]);
  }
}
