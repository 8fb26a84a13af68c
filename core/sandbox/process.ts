/**
 * One sidecar process: spawns it in its jail, speaks frames with it over descriptor 3, and reports when it is ready, when it says
 * something and when it is gone. Decides nothing.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Socket, Subprocess } from 'bun';
import { capMemory } from './jail/core-side.ts';
import type { JailOrder } from './jail/entry.ts';
import { encodeFrames, FrameReader } from './protocol.ts';
import type { FromSidecar, JailReport, ToSidecar } from './protocol.ts';
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

/** Virtual data of the whole process; with --jitless an isolate costs little of it, so that this is a real cap. */
const DATA_BYTES_MAX = 700 * 1024 * 1024;
const PAGE_BYTES = 4096;
const READY_MS = 10_000;
const NO_JAIL: JailReport = { landlock: 0, seccomp: false, rlimits: false };

export class SidecarProcess {
  readonly pid: number;
  readonly ready: Promise<JailReport>;
  /** Bundles this process has been given, by hash, with the install that used each last. */
  readonly codes = new Map<string, string>();
  isolates = 0;
  heardAt = performance.now();
  gone = false;
  killReason: string | undefined;
  #child: Subprocess<Blob, 'ignore', 'pipe'>;
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
    this.#child = Bun.spawn(commandFor(options), {
      // The fourth entry is the inherited descriptor 3.
      stdio: [new Blob([options.programs.sidecar]), 'ignore', 'pipe', 'socket-fd'],
      env: { OPENSSL_CONF: '/dev/null', TZ: 'UTC' },
      onExit: (_child, code, signal) => void this.#exited(code, signal === null ? null : String(signal)),
    });
    this.pid = this.#child.pid;
    void this.#readStderr();
    void this.#connect();
  }

  send(message: ToSidecar): void {
    if (this.gone) return;
    if (this.#outgoing.push(message) === 1) setImmediate(() => this.#flush());
  }

  /** SIGKILL: `process.exit()` of the sidecar would wait for threads that may never stop. */
  kill(reason: string): void {
    this.killReason ??= reason;
    if (!this.#child.killed) this.#child.kill('SIGKILL');
  }

  get exited(): Promise<unknown> {
    return this.#child.exited;
  }

  /** Resident memory, 0 when the process is gone. */
  rssBytes(): number {
    try {
      return Number(readFileSync(`/proc/${this.pid}/statm`, 'utf8').split(' ')[1] ?? 0) * PAGE_BYTES;
    } catch {
      return 0;
    }
  }

  async #connect(): Promise<void> {
    const fd = this.#child.stdio[3];
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

  async #readStderr(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.#child.stderr)
      this.#options.onStderr(decoder.decode(chunk, { stream: true }));
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
  return [process.execPath, join(import.meta.dir, 'jail/entry.ts'), JSON.stringify(order)];
}
