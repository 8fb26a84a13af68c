// Counts what a server in this process does: commits, statements, WAL frames, events, bytes to the writer, compressions, reads on the event
// loop, and messages to sidecars. Nothing in the server knows of it.
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Store } from '../../core/platform/store/store.ts';
import { frameHeaderBytes, walHeaderBytes } from '../../core/platform/store/wal-format.ts';

export interface Counts {
  /** Transactions in the write-ahead log. */
  readonly commits: number;
  readonly frames: number;
  readonly events: number;
  /** Characters of the messages to the writer thread. */
  readonly writerBytes: number;
  readonly compressions: number;
  /** Messages to sidecars, without pings. */
  readonly sidecarMessages: number;
  /** Number of executions by name. */
  readonly statements: Readonly<Record<string, number>>;
  readonly reads: Readonly<Record<string, number>>;
}

export interface Instruments {
  /** Starts counting from 0. */
  begin(): void;
  /** Returns the counts since `begin`. */
  counts(): Counts;
  /** Number of events of a type since `begin`. */
  events(type: string): number;
  /** Resolves once nothing has happened for a while, apart from batches that wait for their commit delay. */
  quiet(): Promise<void>;
  /** Commits the waiting background batches together. @returns false if none waits */
  releaseBatches(): boolean;
  /** Lets background batches pass from now on, so that the server can stop. */
  end(): void;
}

/** Longer than every timer of the server that the test's clock does not control. */
const quietMs = 120;

interface Tallies {
  statements: Map<string, number>;
  reads: Map<string, number>;
  events: Map<string, number>;
  writerBytes: number;
  compressions: number;
  sidecarMessages: number;
}

const noTallies = (): Tallies => ({
  statements: new Map(),
  reads: new Map(),
  events: new Map(),
  writerBytes: 0,
  compressions: 0,
  sidecarMessages: 0,
});

/** Replaces functions that the process calls. Call before the server starts. */
export function instrument(): { watch(store: Store, database: string): Instruments } {
  let tallies = noTallies();
  let lastMs = performance.now();
  const active = (): void => void (lastMs = performance.now());
  countWriterBytes((bytes) => {
    tallies.writerBytes += bytes;
    active();
  });
  countCompressions(() => tallies.compressions++);
  countSidecarMessages(() => {
    tallies.sidecarMessages++;
    active();
  });

  return {
    watch(store, database) {
      const commits = holdBackground(store);
      let open = 0;
      const during = async <T>(work: () => Promise<T>): Promise<T> => {
        open++;
        active();
        try {
          return await work();
        } finally {
          open--;
          active();
        }
      };
      const { read, readOne, readSystem } = store;
      store.read = (scope, statement, params) => {
        add(tallies.reads, statement.name);
        return during(() => read(scope, statement, params));
      };
      store.readOne = (scope, statement, params) => {
        add(tallies.reads, statement.name);
        return during(() => readOne(scope, statement, params));
      };
      store.readSystem = (statement, params) => {
        add(tallies.reads, statement.name);
        return during(() => readSystem(statement, params));
      };
      const { commit } = store;
      store.commit = (ops, options) => {
        for (const { statement, params } of ops) {
          add(tallies.statements, statement.name);
          if (statement.chained) add(tallies.events, String(params['type']));
        }
        active();
        return commit(ops, options);
      };
      const wal = openWal(`${database}-wal`);
      return {
        begin() {
          tallies = noTallies();
          wal.begin();
        },
        counts() {
          const { statements, reads, events, ...counted } = tallies;
          const sum = [...events.values()].reduce((all, one) => all + one, 0);
          return {
            ...wal.counts(),
            events: sum,
            ...counted,
            statements: sorted(statements),
            reads: sorted(reads),
          };
        },
        events: (type) => tallies.events.get(type) ?? 0,
        async quiet() {
          while (open > 0 || commits.underWay() || performance.now() - lastMs < quietMs) await Bun.sleep(20);
        },
        releaseBatches: commits.release,
        end: commits.end,
      };
    },
  };
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

const sorted = (counts: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));

/** Makes background batches wait until they are released, so that the batches of one commit never depend on wall-clock time. */
function holdBackground(store: Store) {
  const { commit } = store;
  let waiting: (() => void)[] = [];
  let open = 0;
  let isEnded = false;
  store.commit = async (ops, options = {}) => {
    if (options.commitDelayMs && !isEnded) await new Promise<void>((resolve) => waiting.push(resolve));
    open++;
    try {
      return await commit(ops);
    } finally {
      open--;
    }
  };
  const release = (): boolean => {
    const released = waiting;
    waiting = [];
    for (const resolve of released) resolve();
    return released.length > 0;
  };
  return {
    underWay: () => open > 0,
    release,
    end() {
      isEnded = true;
      release();
    },
  };
}

function countWriterBytes(note: (bytes: number) => void): void {
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (message: unknown, ...more: []) {
    if (typeof message === 'string') note(message.length);
    return postMessage.call(this, message, ...more);
  };
}

function countCompressions(note: () => void): void {
  const { zstdCompressSync, zstdCompress } = Bun;
  Bun.zstdCompressSync = (...input) => {
    note();
    return zstdCompressSync(...input);
  };
  Bun.zstdCompress = (...input) => {
    note();
    return zstdCompress(...input);
  };
}

/** Every frame on the descriptor of a sidecar starts with the number of bytes that follow. */
function countSidecarMessages(note: () => void): void {
  const { connect } = Bun;
  const counter = (): ((chunk: Uint8Array) => void) => {
    let pending = Buffer.alloc(0);
    return (chunk) => {
      pending = Buffer.concat([pending, chunk]);
      while (pending.length >= 4 && pending.length >= 4 + pending.readUInt32LE(0)) {
        const end = 4 + pending.readUInt32LE(0);
        if (!/"t":"ping"/.test(pending.toString('latin1', 0, Math.min(end, 60)))) note();
        pending = pending.subarray(end);
      }
    };
  };
  const counting = async (options: { readonly fd?: number }) => {
    const socket = await (connect as (options: object) => Promise<{ write(bytes: Uint8Array): number }>)(
      options,
    );
    if (options.fd === undefined) return socket;
    const count = counter();
    const write = socket.write.bind(socket);
    socket.write = (bytes) => {
      const written = write(bytes);
      count(bytes.subarray(0, Math.max(0, written)));
      return written;
    };
    return socket;
  };
  Object.assign(Bun, { connect: counting });
}

/** Counts frames and transactions. A frame that ends a transaction names the size of the database, others name 0. */
function openWal(path: string) {
  let start = walHeaderBytes;
  let salt = '';
  const saltOf = (log: Buffer): string => log.toString('latin1', 16, 24);

  const frameBytesOf = (log: Buffer): number => frameHeaderBytes + log.readUInt32BE(8);
  const framesFrom = (log: Buffer, at: number): Buffer[] => {
    const frames: Buffer[] = [];
    const frameBytes = frameBytesOf(log);
    for (let next = at; next + frameBytes <= log.length; next += frameBytes) {
      const header = log.subarray(next, next + frameHeaderBytes);
      if (header.toString('latin1', 8, 16) !== saltOf(log)) break;
      frames.push(header);
    }
    return frames;
  };

  return {
    begin(): void {
      const log = readFileSync(path);
      salt = saltOf(log);
      start = walHeaderBytes + framesFrom(log, walHeaderBytes).length * frameBytesOf(log);
    },
    counts(): { commits: number; frames: number } {
      const log = readFileSync(path);
      // After a checkpoint, which housekeeping makes between two operations, the first write restarts the log.
      const frames = framesFrom(log, saltOf(log) === salt ? start : walHeaderBytes);
      return { commits: frames.filter((frame) => frame.readUInt32BE(4) !== 0).length, frames: frames.length };
    },
  };
}
