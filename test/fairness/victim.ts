// A real server, floods from one workspace, and a client of another one, the victim, whose latency is measured with and
// without the flood. Fair shares mean that the victim notices no difference.
import { expect } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Flags } from '../../core/app/config/settings.ts';
import type { FirstWorkspace } from '../../core/app/setup/first-workspace.ts';
import type { Client } from '../app.ts';
import { clientOf } from '../faults/server.ts';
import { ownCommand } from '../program.ts';
import { watchSlowness } from '../slow-machine.ts';

/** The long forms use the volumes that revealed each defect. */
export const long = process.env.TATAMI_LONG === '1';

/**
 * Below these latencies (milliseconds) the slowest requests depend on the machine rather than on the server. A creation
 * takes several rounds of the event loop and a sync of the disk.
 */
const floorMs = { readyz: 20, create: 50, get: 30 } as const;
const quietMs = 1_000;
const triesMax = 5;

const routes = ['readyz', 'create', 'get'] as const;
type Waits = Readonly<Record<(typeof routes)[number], readonly number[]>>;

interface Report {
  readonly quietWorstMs: Readonly<Record<string, number>>;
  readonly p50Ms: Readonly<Record<string, number>>;
  /** Slowest latency: the 99th percentile of many requests, the 95th of few, so that no single request decides. */
  readonly worstMs: Readonly<Record<string, number>>;
  readonly maxMs: Readonly<Record<string, number>>;
  /** Peak growth of the server's resident memory. */
  readonly grownMb: number;
  readonly tookMs: number;
  /** Factor by which other load on the machine slowed everything down. */
  readonly slowness: number;
}

export interface Arena {
  readonly url: string;
  readonly flooder: FirstWorkspace;
  readonly victim: FirstWorkspace;
  /** Client of the flooding workspace. */
  readonly call: Client;
  readonly callAsVictim: Client;
  residentMb(): number;
  /**
   * Runs a flood beside the victim, and expects that its latency is at most twice that on a quiet server, or
   * imperceptible. Other programs on the machine only add latency, so their share is subtracted, and the measurement
   * may be repeated.
   */
  flood(run: () => Promise<unknown>): Promise<Report>;
  /** A connection that sends a request of the flooding workspace, and reads only on demand. */
  ask(path: string): Socket;
  stop(): Promise<void>;
}

export async function startArena(flags: Flags = {}): Promise<Arena> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-fairness-'));
  const child = Bun.spawn(ownCommand('arena', [dir, JSON.stringify(flags)]), {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const { url, flooder, victim } = JSON.parse(await firstLine(child.stdout)) as {
    url: string;
    flooder: FirstWorkspace;
    victim: FirstWorkspace;
  };
  const residentMb = (): number =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1024;
  const sockets: Socket[] = [];

  /**
   * Latency of this server without a flood; measured again after a suspected regression, because the machine may have
   * become slower.
   */
  let quiet: Waits | undefined;
  const measure = async (run: () => Promise<unknown>): Promise<Report> => {
    const beside = (quiet ??= await measured(url, victim, () => Bun.sleep(quietMs)));
    const before = residentMb();
    let peak = before;
    const sampling = setInterval(() => (peak = Math.max(peak, residentMb())), 10);
    const from = performance.now();
    const slowness = watchSlowness();
    const flooded = await measured(url, victim, run).finally(() => {
      clearInterval(sampling);
      for (const socket of sockets.splice(0)) socket.destroy();
    });
    return {
      quietWorstMs: each(beside),
      p50Ms: each(flooded, 0.5),
      worstMs: each(flooded),
      maxMs: each(flooded, 1),
      grownMb: Math.round(peak - before),
      tookMs: Math.round(performance.now() - from),
      slowness: slowness(),
    };
  };

  return {
    url,
    flooder,
    victim,
    call: clientOf(url, flooder.apiKey),
    callAsVictim: clientOf(url, victim.apiKey),
    residentMb,
    ask(path) {
      const { hostname, port } = new URL(url);
      const socket = connect(Number(port), hostname);
      socket.on('error', () => undefined);
      sockets.push(socket);
      socket.pause();
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${flooder.apiKey}\r\n\r\n`,
      );
      return socket;
    },
    async flood(run) {
      let report = await measure(run);
      for (let tries = 1; tries < triesMax && !isUnharmed(report); tries++) {
        quiet = undefined;
        report = await measure(run);
      }
      if (process.env.TATAMI_REPORT) console.log(JSON.stringify(report));
      expect(report).toSatisfy(isUnharmed);
      return report;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      child.kill('SIGTERM');
      const ended = await Promise.race([child.exited, Bun.sleep(5_000)]);
      if (ended === undefined) child.kill('SIGKILL');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

const isUnharmed = (report: Report): boolean =>
  routes.every(
    (route) =>
      report.worstMs[route]! / report.slowness <= Math.max(floorMs[route], 2 * report.quietWorstMs[route]!),
  );

async function measured(url: string, victim: FirstWorkspace, run: () => Promise<unknown>): Promise<Waits> {
  const probe = Bun.spawn([process.execPath, join(import.meta.dir, 'probe-process.ts'), url, victim.apiKey], {
    stdin: 'pipe',
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const output = probe.stdout.getReader();
  let text = '';
  const read = async (until: (text: string) => boolean): Promise<void> => {
    while (!until(text)) {
      const { value, done } = await output.read();
      if (done) return;
      text += new TextDecoder().decode(value);
    }
  };
  await read((so) => so.includes('ready\n'));
  try {
    await run();
  } finally {
    await probe.stdin.end();
    await read(() => false);
  }
  return JSON.parse(text.slice('ready\n'.length)) as Waits;
}

const each = (waits: Waits, fraction?: number): Record<string, number> =>
  Object.fromEntries(
    routes.map((route) => {
      const sorted = waits[route].toSorted((a, b) => a - b);
      const of = fraction ?? (sorted.length >= 300 ? 0.99 : 0.95);
      const at = Math.min(sorted.length - 1, Math.floor(sorted.length * of));
      return [route, Math.round((sorted[at] ?? Infinity) * 10) / 10];
    }),
  );

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  let text = '';
  while (!text.includes('\n')) {
    const { value, done } = await reader.read();
    if (done) throw new Error('the server ended before it was ready');
    text += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  return text.split('\n')[0]!;
}
