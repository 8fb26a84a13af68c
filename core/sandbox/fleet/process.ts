/**
 * One sidecar process: spawns it in its jail, speaks frames with it over descriptor 3, and reports when it is ready, when it says
 * something and when it is gone. Decides nothing.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import type { Socket, Subprocess } from 'bun';
import { cleanBunFlags } from '../../lib/clean-bun.ts';
import { capMemory } from '../jail/core-side.ts';
import type { JailOrder } from '../jail/entry.ts';
import { encodeFrames, FrameReader } from '../protocol.ts';
import type { FromSidecar, JailReport, ToSidecar } from '../protocol.ts';
import type { SidecarPrograms } from './bundle.ts';

declare module 'bun' {
  /** Bun takes an open descriptor here; its types know the options but not this overload. */
  function connect(options: FdSocketOptions<undefined>): Promise<Socket<undefined>>;
}

export interface SpawnOptions {
  nodePath: string;
  addonPath: string;
  programs: SidecarPrograms;
  jail: 'auto' | 'strict' | 'off';
  isolatesMax: number;
  idleMs: number;
  onMessage(message: FromSidecar): void;
  /** Exactly once, after the last message. */
  onGone(why: string): void;
  onStderr(text: string): void;
}

type Child = Subprocess<Blob, 'ignore', 'pipe'>;

/** Virtual data of the whole process; with --jitless an isolate costs little of it, so that this is a real cap. */
const DATA_BYTES_MAX = 700 * 1024 * 1024;
const CODES_TOTAL_MAX = 32 * 1024 * 1024;
const PAGE_BYTES = 4096;
/** Starting takes a fifth of a second of processor time, which a busy machine may take long to give. */
const READY_MS = 60_000;
const NO_JAIL: JailReport = { landlock: 0, seccomp: false, rlimits: false };

export class SidecarProcess {
  readonly pid: number;
  readonly ready: Promise<JailReport>;
  isolates = 0;
  heardAt = performance.now();
  /** At the last look, by whoever watches. */
  rssSeenBytes = 0;
  gone = false;
  killReason: string | undefined;
  /** Bundles this process holds, the least recently used first, with the install that used each last. */
  #codes = new Map<string, { installId: string; size: number }>();
  #child: Child | undefined;
  #socket: Socket<undefined> | undefined;
  #frames = new FrameReader();
  #outgoing: ToSidecar[] = [];
  #unsent: Uint8Array | undefined;
  #options: SpawnOptions;
  #settleReady!: { resolve(report: JailReport): void; reject(error: Error): void };

  constructor(options: SpawnOptions) {
    this.#options = options;
    this.ready = new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.kill('it did not start in time'), READY_MS);
      this.#settleReady = {
        resolve: (report) => (clearTimeout(timer), resolve(report)),
        reject: (error) => (clearTimeout(timer), reject(error)),
      };
    });
    this.ready.catch(() => undefined);
    this.#child = this.#spawn();
    this.pid = this.#child?.pid ?? 0;
    if (!this.#child) return;
    void this.#readStderr(this.#child);
    void this.#connect(this.#child);
  }

  /** Undefined when the system refuses a process; that is told like any other death. */
  #spawn(): Child | undefined {
    const { programs } = this.#options;
    try {
      const child = Bun.spawn(commandFor(this.#options), {
        // The fourth entry is the inherited descriptor 3.
        stdio: [new Blob([programs.sidecar]), 'ignore', 'pipe', 'socket-fd'],
        cwd: '/',
        env: { OPENSSL_CONF: '/dev/null', TZ: 'UTC' },
        onExit: (_child, code, signal) => void this.#exited(code, signal === null ? null : String(signal)),
      });
      setPriority(child.pid, 10);
      return child;
    } catch (error) {
      this.killReason = String(error);
      void this.#exited(null, null);
      return undefined;
    }
  }

  send(message: ToSidecar): void {
    if (this.gone) return;
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** Sends a bundle unless the process has it, and has it forget others above a total. */
  give(sha256: string, source: string, installId: string): void {
    if (!this.#codes.delete(sha256)) this.send({ t: 'code', sha256, source });
    this.#codes.set(sha256, { installId, size: source.length });
    let total = 0;
    for (const { size } of this.#codes.values()) total += size;
    for (const [oldest, { size }] of this.#codes) {
      if (total <= CODES_TOTAL_MAX || oldest === sha256) break;
      total -= size;
      this.#forget([oldest]);
    }
  }

  /** Idle isolates and bundles of an install; a bundle that another one needs is sent again. */
  evict(installId: string): void {
    const codes = [...this.#codes]
      .filter(([, code]) => code.installId === installId)
      .map(([sha256]) => sha256);
    this.send({ t: 'evict', prefix: `${installId}/` });
    this.#forget(codes);
  }

  #forget(codes: string[]): void {
    if (codes.length === 0) return;
    for (const sha256 of codes) this.#codes.delete(sha256);
    this.send({ t: 'forget', codes });
  }

  /** SIGKILL: `process.exit()` of the sidecar would wait for threads that may never stop. */
  kill(reason: string): void {
    this.killReason ??= reason;
    if (this.#child?.killed === false) this.#child.kill('SIGKILL');
  }

  get exited(): Promise<unknown> {
    return this.#child?.exited ?? Promise.resolve();
  }

  /** Resident memory, 0 when the process is gone. */
  rssBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES;
    } catch {
      return 0;
    }
  }

  async #connect(child: Child): Promise<void> {
    const fd = child.stdio[3];
    if (typeof fd !== 'number') return this.kill('it has no descriptor 3');
    try {
      this.#socket = await Bun.connect({
        fd,
        socket: {
          data: (_socket, chunk) => this.#received(chunk),
          drain: () => this.#writeUnsent(),
          error: () => undefined,
        },
      });
    } catch (error) {
      return this.kill(`its descriptor 3 failed: ${String(error)}`);
    }
    const { programs, isolatesMax, idleMs } = this.#options;
    this.#outgoing.unshift({ t: 'init', guest: programs.guest, isolatesMax, idleMs });
    this.#flush();
  }

  #received(chunk: Uint8Array): void {
    this.heardAt = performance.now();
    try {
      for (const text of this.#frames.push(chunk)) {
        const message = JSON.parse(text) as FromSidecar;
        if (message.t === 'ready') this.#started(message.jail);
        else this.#options.onMessage(message);
      }
    } catch (error) {
      this.kill(`it broke the protocol: ${String(error)}`);
    }
  }

  /** No guest code has run yet. */
  #started(report: JailReport): void {
    const { jail } = this.#options;
    const rlimits = jail !== 'off' && report.rlimits && capMemory(this.pid, DATA_BYTES_MAX);
    if (jail === 'strict' && !rlimits)
      return this.kill('a strict jail needs a memory limit, which could not be set');
    this.#settleReady.resolve({ ...report, rlimits });
  }

  #flush(): void {
    if (!this.#socket || this.#outgoing.length === 0) return;
    const bytes = encodeFrames(this.#outgoing);
    this.#outgoing = [];
    this.#unsent = this.#unsent ? Buffer.concat([this.#unsent, bytes]) : bytes;
    this.#writeUnsent();
  }

  #writeUnsent(): void {
    if (!this.#unsent || !this.#socket) return;
    const written = this.#socket.write(this.#unsent);
    if (written < 0) return;
    this.#unsent = written < this.#unsent.byteLength ? this.#unsent.subarray(written) : undefined;
  }

  async #readStderr(child: Child): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) this.#options.onStderr(decoder.decode(chunk, { stream: true }));
  }

  async #exited(code: number | null, signal: string | null): Promise<void> {
    // What it wrote before dying is still in the socket.
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.gone = true;
    this.#socket?.end();
    const why =
      this.killReason ?? (signal === null ? `it exited with code ${code}` : `it died of signal ${signal}`);
    this.#settleReady.reject(new Error(`The sandbox sidecar did not start: ${why}.`));
    this.#options.onGone(why);
  }
}

function commandFor(options: SpawnOptions): string[] {
  const { nodePath, addonPath, jail } = options;
  const flags = [
    '--jitless',
    '--no-node-snapshot',
    '--permission',
    '--allow-addons',
    `--allow-fs-read=${addonPath}`,
  ];
  const node = [
    nodePath,
    ...flags,
    '--no-warnings',
    '--max-old-space-size=256',
    '--input-type=module',
    '-',
    addonPath,
  ];
  if (jail === 'off') return [...node, JSON.stringify(NO_JAIL)];
  const order: JailOrder = {
    command: [...node, '{jail}'],
    readable: [addonPath],
    strict: jail === 'strict',
  };
  return [
    process.execPath,
    ...cleanBunFlags,
    join(import.meta.dir, '../jail/entry.ts'),
    JSON.stringify(order),
  ];
}
