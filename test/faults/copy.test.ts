// The continuous copy in a running process: each point in time equals the state at that time, regardless of
// checkpoints, outages of the destination and restarts.
import { afterEach, expect, test } from 'bun:test';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { openDestination } from '../../core/platform/backup/copy/destination/destination.ts';
import { verifyCopy } from '../../core/platform/backup/copy/inspect.ts';
import type { Copier } from '../../core/platform/backup/copy/copier.ts';
import { writeEnd } from '../../core/platform/store/wal-archive/segments.ts';
import { createClock, startApp, type TestApp } from '../app.ts';
import { copied, noS3, temporary } from './copied.ts';

const folders: string[] = [];
const folder = (): string => {
  const path = temporary();
  folders.push(path);
  return path;
};
afterEach(() => {
  for (const path of folders.splice(0)) rmSync(path, { recursive: true, force: true });
});

const copierOf = ({ copier }: TestApp): Copier => {
  if (!copier) throw new Error('No copy is made.');
  return copier;
};

const start = (to: string, flags: Record<string, string> = {}): Promise<TestApp> =>
  startApp({ flags: { copyTo: to, ...flags } });

async function make(app: TestApp, title: string): Promise<void> {
  const { status } = await app.call('POST', '/api/v1/issues', { team: 'ENG', title });
  expect(status).toBe(201);
}

/** Copies once more, and waits for a base copy in progress. */
async function caughtUp(app: TestApp): Promise<void> {
  const copier = copierOf(app);
  await copier.round();
  while (copier.status().base !== null) await Bun.sleep(5);
  await copier.round();
  expect(copier.status()).toMatchObject({ waitingBytes: 0, lastError: null });
}

test('each point in time equals the state at that time, and the chain continues across a clean restart', async () => {
  const to = folder();
  let app = await start(to);
  await caughtUp(app);
  const moments: { timeMs: number; titles: string[] }[] = [];
  const titles: string[] = [];
  for (let i = 0; i < 12; i++) {
    if (i === 6) app = await app.restart();
    app.clock.advance(1_000);
    for (let j = 0; j <= i % 3; j++) {
      titles.push(`Issue ${i}.${j}`);
      await make(app, titles.at(-1)!);
    }
    app.clock.advance(3_000);
    await copierOf(app).round();
    moments.push({ timeMs: app.clock.now(), titles: [...titles] });
  }
  await app.stop();
  for (const { timeMs, titles } of moments) {
    expect((await copied(to, timeMs)).titles).toEqual(titles);
    expect((await copied(to, timeMs + 999)).titles).toEqual(titles);
  }
  expect((await copied(to)).titles).toEqual(titles);
  const { chains, damaged } = await verifyCopy(openDestination(to, noS3));
  expect(damaged).toEqual([]);
  expect(chains).toMatchObject([{ bases: 1, moments: [{ toMs: moments.at(-1)!.timeMs }] }]);
});

test('an unavailable destination delays nothing, is reported, and receives everything once it is back', async () => {
  const to = folder();
  const app = await start(to);
  await caughtUp(app);
  renameSync(to, `${to}-away`);
  writeFileSync(to, 'a file in place of the folder');
  const titles: string[] = [];
  for (let i = 0; i < 8; i++) {
    titles.push(`Issue ${i}`);
    await make(app, titles.at(-1)!);
    app.clock.advance(20_000);
    await copierOf(app).round();
  }
  expect(copierOf(app).status()).toMatchObject({ lastError: expect.stringMatching(/\S/) });
  expect(copierOf(app).status().lagMs).toBeGreaterThan(150_000);
  expect(app.services.problems.list()).toMatchObject([
    { kind: 'copy', message: expect.stringContaining(to) },
  ]);
  rmSync(to);
  renameSync(`${to}-away`, to);
  app.clock.advance(60_000);
  await caughtUp(app);
  app.clock.advance(5_000);
  expect(app.services.problems.list()).toEqual([]);
  expect((await copied(to)).titles).toEqual(titles);
  expect(await verifyCopy(openDestination(to, noS3))).toMatchObject({
    chains: [{ bases: 1, moments: [{}] }],
    damaged: [],
  });
  await app.stop();
});

test('an empty folder in place of an unmounted disk is reported, and not written to', async () => {
  const to = folder();
  let app = await start(to);
  await make(app, 'Before');
  await caughtUp(app);
  renameSync(to, `${to}-away`);
  mkdirSync(to);
  await make(app, 'Away');
  await copierOf(app).round();
  expect(copierOf(app).status().lastError).toContain('mount the disk');
  app = await app.restart();
  await copierOf(app).round();
  expect(copierOf(app).status().lastError).toContain('mount the disk');
  expect(readdirSync(to)).toEqual([]);
  rmdirSync(to);
  renameSync(`${to}-away`, to);
  await caughtUp(app);
  await app.stop();
  expect((await copied(to)).titles).toEqual(['Before', 'Away']);
  expect((await verifyCopy(openDestination(to, noS3))).chains).toHaveLength(1);
});

test('a damaged or missing segment is reported, and earlier points in time stay restorable', async () => {
  const to = folder();
  const app = await start(to);
  await caughtUp(app);
  const moments: { timeMs: number; titles: string[] }[] = [];
  for (let i = 0; i < 6; i++) {
    app.clock.advance(1_000);
    await make(app, `Issue ${i}`);
    // A later write would be copied by the timer, in a second segment of the next moment.
    await app.settled();
    await copierOf(app).round();
    moments.push({ timeMs: app.clock.now(), titles: [...(moments.at(-1)?.titles ?? []), `Issue ${i}`] });
  }
  await app.stop();
  const source = openDestination(to, noS3);
  const nameAt = async (timeMs: number): Promise<string> => {
    const names = (await source.list()).filter((name) => name.includes(`-${timeMs}-`));
    expect(names).toHaveLength(1);
    return names[0]!;
  };
  const checkUpTo = async (lost: number): Promise<void> => {
    for (const { timeMs, titles } of moments.slice(0, lost))
      expect((await copied(to, timeMs)).titles).toEqual(titles);
    const last = new Date(moments[lost - 1]!.timeMs).toISOString();
    for (const timeMs of [null, ...moments.slice(lost).map((moment) => moment.timeMs)])
      await expect(copied(to, timeMs).then(({ titles }) => titles)).rejects.toThrow(`to ${last}`);
  };

  const damaged = await nameAt(moments[4]!.timeMs);
  const bytes = readFileSync(join(to, damaged));
  bytes[bytes.length - 20]! ^= 1;
  writeFileSync(join(to, damaged), bytes);
  expect((await verifyCopy(source)).damaged).toMatchObject([{ name: damaged }]);
  await checkUpTo(4);

  await source.delete([await nameAt(moments[2]!.timeMs)]);
  await checkUpTo(2);
});

test('old segments are removed, and points in time within the retention period stay restorable', async () => {
  const to = folder();
  const app = await start(to, { copyEvery: '3600', copyKeep: '30' });
  await caughtUp(app);
  const moments: { timeMs: number; titles: string[] }[] = [];
  for (let day = 0; day < 6; day++) {
    app.clock.advance(25 * 3_600_000);
    await make(app, `Issue ${day}`);
    app.clock.advance(1_000);
    await caughtUp(app);
    moments.push({ timeMs: app.clock.now(), titles: [...(moments.at(-1)?.titles ?? []), `Issue ${day}`] });
  }
  const [first, ...retained] = moments.slice(-3);
  await expect(copied(to, moments[0]!.timeMs).then(({ titles }) => titles)).rejects.toThrow(
    'The copy covers the time from',
  );
  for (const { timeMs, titles } of [first!, ...retained])
    expect((await copied(to, timeMs)).titles).toEqual(titles);
  const { chains } = await verifyCopy(openDestination(to, noS3));
  expect(chains).toMatchObject([{ moments: [{}] }]);
  expect(chains[0]!.bases).toBeLessThan(5);
  await app.stop();
});

test('a start without a copy ends the chain, and the period in between is not restorable', async () => {
  const to = folder();
  const dataDir = folder();
  const clock = createClock();
  const flags = { copyTo: to };
  const first = await startApp({ dataDir, clock, flags });
  await make(first, 'In the first chain');
  await caughtUp(first);
  await first.stop();
  const firstMs = clock.now();
  clock.advance(10_000);
  const without = await startApp({ dataDir, clock }, first.workspace);
  await make(without, 'Between');
  await without.stop();
  const betweenMs = clock.now();
  clock.advance(10_000);
  const last = await startApp({ dataDir, clock, flags }, first.workspace);
  await caughtUp(last);
  await last.stop();

  expect((await copied(to, firstMs)).titles).toEqual(['In the first chain']);
  await expect(copied(to, betweenMs).then(({ titles }) => titles)).rejects.toThrow('does not cover');
  expect((await copied(to)).titles).toEqual(['In the first chain', 'Between']);
  expect((await verifyCopy(openDestination(to, noS3))).chains).toHaveLength(2);
});

test('a copied directory begins its own chain, and leaves that of the original unchanged', async () => {
  const to = folder();
  const dataDir = folder();
  const clock = createClock();
  const flags = { copyTo: to };
  const first = await startApp({ dataDir, clock, flags });
  await make(first, 'Before');
  await caughtUp(first);
  await first.stop();
  const clone = folder();
  cpSync(dataDir, clone, { recursive: true });
  clock.advance(1_000);
  const twin = await startApp({ dataDir: clone, clock, flags }, first.workspace);
  await make(twin, 'In the clone');
  await caughtUp(twin);
  await twin.stop();
  expect((await copied(to)).titles).toEqual(['Before', 'In the clone']);
  clock.advance(1_000);
  const original = await startApp({ dataDir, clock, flags }, first.workspace);
  await make(original, 'In the original');
  await caughtUp(original);
  await original.stop();

  expect((await copied(to)).titles).toEqual(['Before', 'In the original']);
  expect((await verifyCopy(openDestination(to, noS3))).chains).toHaveLength(2);
});

test('a base copy whose chain ends meanwhile is discarded', async () => {
  const to = folder();
  const app = await start(to);
  await make(app, 'The only one');
  await copierOf(app).round();
  expect(copierOf(app).status().base).not.toBeNull();
  writeEnd(join(app.dataDir, 'spool'), 'as after a fault');
  while (copierOf(app).status().base !== null) await Bun.sleep(5);
  await caughtUp(app);
  const { chains } = await verifyCopy(openDestination(to, noS3));
  expect(chains.map(({ bases }) => bases).sort()).toEqual([0, 1]);
  expect((await copied(to)).titles).toEqual(['The only one']);
  await app.stop();
});
