// Starts Tatami for a test with a new data directory, real libsql, a real socket and an injected clock,
// without mocks.
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '../core/app/config/config.ts';
import type { Flags } from '../core/app/config/settings.ts';
import { createWorkspace, type FirstWorkspace } from '../core/app/setup/first-workspace.ts';
import type { Clock } from '../core/platform/lib/time/clock.ts';
import type { Resolve } from '../core/platform/lib/egress/egress.ts';
import type { Log, LogLevel } from '../core/platform/lib/log.ts';
import { serve, type Tatami } from '../core/app/serve/serve.ts';
import { openStore } from '../core/platform/store/open-store.ts';

/** The initial time of every test. */
export const testStart = Date.parse('2026-11-20T12:00:00.000Z');

/**
 * A clock that advances only on request, and runs the timers it passes in order. Timers are monotonic, as on
 * a real system.
 */
export interface TestClock extends Clock {
  now(): number;
  advance(ms: number): void;
  /**
   * Advances to the next timer and runs it. Returns false, at the end of that time, if there is none within
   * it.
   */
  advanceToNext(withinMs: number): boolean;
  /** Sets the wall clock, forward or back, without effect on timers. */
  jump(ms: number): void;
}

/** Starts at the system time, for tests that share data or signatures with a process on the system clock. */
export const createSystemClock = (): TestClock => createClock(Date.now());

export function createClock(startMs: number = testStart): TestClock {
  let now = startMs;
  let offset = 0;
  let timers: { atMs: number; run: () => void }[] = [];
  return {
    now: () => now + offset,
    nowMs: () => now + offset,
    monotonicMs: () => now,
    advanceToNext(withinMs) {
      const next = Math.min(...timers.map(({ atMs }) => atMs));
      this.advance(Math.max(0, Math.min(next - now, withinMs)));
      return next - now <= 0;
    },
    jump: (ms) => void (offset += ms),
    after(delayMs, run) {
      const timer = { atMs: now + Math.max(0, delayMs), run };
      timers.push(timer);
      return () => void (timers = timers.filter((other) => other !== timer));
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = timers.filter((timer) => timer.atMs <= end).sort((a, b) => a.atMs - b.atMs)[0];
        if (!next) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.atMs);
        next.run();
      }
      now = end;
    },
  };
}

interface LogEntry {
  level: LogLevel;
  message: string;
  fields: object;
}

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

/** Parsed JSON with untyped properties. A missing property is undefined, so an expectation on it fails. */
export type Json = ReturnType<typeof JSON.parse>;

export interface Client {
  (method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export interface TestApp extends Tatami {
  readonly clock: TestClock;
  readonly dataDir: string;
  readonly workspace: FirstWorkspace;
  readonly logs: LogEntry[];
  /** Sends requests with the key of the first workspace. */
  readonly call: Client;
  clientOf(token: string | null): Client;
  /** Adds an unrelated workspace. */
  addWorkspace(name: string, teamKey: string): Promise<FirstWorkspace>;
  /** Creates a key of the first workspace with these scopes only. */
  mintKey(scopes: readonly string[]): Promise<string>;
  /** Returns the event types after a sequence number, in order. */
  eventTypes(after: number): Promise<string[]>;
  lastSequence(): Promise<number>;
  /** Stops and starts again on the same data, with the same clock. */
  restart(): Promise<TestApp>;
}

/**
 * An existing directory requires an explicit clock, because another process may have written or may read
 * there.
 */
export type TestAppOptions = AppOptions &
  ({ clock?: TestClock; dataDir?: never } | { clock: TestClock; dataDir: string });

interface AppOptions {
  readonly flags?: Flags;
  /** DNS of webhook receivers. */
  readonly resolve?: Resolve;
  /** Random numbers for the jitter of retries. */
  readonly random?: () => number;
}

/**
 * A directory after its first start at `testStart`. It is cached, because most of a first start creates
 * tables.
 */
let started: Promise<string> | undefined;

async function makeStarted(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-started-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  await openStore(dir, () => testStart).close();
  return dir;
}

/**
 * Copies the cached directory, as an operator may copy one of a stopped server. A clock with another time
 * gets a new directory.
 */
async function makeDataDir(clock: TestClock): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tatami-test-'));
  if (clock.now() === testStart) cpSync(await (started ??= makeStarted()), dir, { recursive: true });
  return dir;
}

/**
 * Rate limits are off unless `flags` sets them. `stop` removes the data directory, and `restart` does not.
 */
export async function startApp(options: TestAppOptions = {}, workspace?: FirstWorkspace): Promise<TestApp> {
  const clock = options.clock ?? createClock();
  const dataDir = options.dataDir ?? (await makeDataDir(clock));
  const logs: LogEntry[] = [];
  const log: Log = (level, message, fields: object = {}) => void logs.push({ level, message, fields });
  const flags: Flags = { rateLimit: 'off', port: '0', ...options.flags, dataDir };
  /** Null after the stop, because loaded test files would otherwise retain every stopped server in memory. */
  let running: Tatami | null = await serve({
    config: readConfig(flags, {}),
    log,
    clock,
    ...(options.resolve ? { resolve: options.resolve } : {}),
    ...(options.random ? { random: options.random } : {}),
  });
  const { url } = running;
  const tatami = (): Tatami => {
    if (running === null) throw new Error('The server of this test has stopped.');
    return running;
  };
  const add = (name: string, teamKey: string): Promise<FirstWorkspace> =>
    createWorkspace(tatami().services, tatami().committer, {
      name,
      teamKey,
      teamName: teamKey,
      ownerName: `${name} owner`,
    });
  const first = workspace ?? (await add('Acme', 'ENG'));

  const clientOf =
    (token: string | null): Client =>
    async (method, path, body, headers = {}) => {
      const response = await fetch(url + path, {
        method,
        redirect: 'manual',
        headers: {
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      // The body of a stream does not end.
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      const text = isStream ? '' : await response.text();
      if (isStream) await response.body?.cancel();
      const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
      return {
        status: response.status,
        headers: response.headers,
        text,
        json: (isJson && text !== '' ? JSON.parse(text) : null) as Json,
      };
    };
  const call = clientOf(first.apiKey);

  const eventsAfter = async (after: number): Promise<Json[]> => {
    const events: Json[] = [];
    for (let position = after; ; position = events.at(-1).sequence) {
      const { json } = await call('GET', `/api/v1/events?limit=100&after=${position}`);
      events.push(...json.data);
      if (!json.pageInfo.hasNextPage || json.data.length === 0) return events;
    }
  };

  const stop = async (): Promise<void> => {
    await running?.stop();
    running = null;
  };

  return {
    url,
    metricsUrl: running.metricsUrl,
    newDataDir: running.newDataDir,
    get app() {
      return tatami().app;
    },
    get services() {
      return tatami().services;
    },
    get committer() {
      return tatami().committer;
    },
    get copier() {
      return tatami().copier;
    },
    installFirstParty: (workspaceId, name) => tatami().installFirstParty(workspaceId, name),
    settled: () => tatami().settled(),
    clock,
    dataDir,
    workspace: first,
    logs,
    call,
    clientOf,
    addWorkspace: add,
    async mintKey(scopes) {
      const { json } = await call('POST', '/api/v1/api-keys', { name: 'test', scopes });
      return json.key;
    },
    eventTypes: async (after) => (await eventsAfter(after)).map((event) => event.type),
    // Reads the log from its end, because reading all pages would take longer with each event.
    lastSequence: async () => (await call('GET', '/api/v1/audit-log?limit=1')).json.data[0]?.sequence ?? 0,
    async restart() {
      await stop();
      return startApp({ ...options, clock, dataDir }, first);
    },
    async stop() {
      await stop();
      if (options.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
