// Schedules in a time zone, over days with a clock change: docs/plugins/schedules.md.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packFolder } from '../../../core/app/cli/plugin/author/package.ts';
import { createClock, startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

const folder = mkdtempSync(join(tmpdir(), 'tatami-zones-'));
const clock = createClock(Date.parse('2027-03-27T23:50:00Z'));
const path = '/api/v1/plugins/com.test.zones';
let app: TestApp;

const definition = (schedules: string): string =>
  `{ id: 'com.test.zones', version: '1.0.0', engines: { tatami: '*' }, schedules: { ${schedules} } }`;
const handle = 'handle: () => {}';

beforeAll(async () => {
  app = await startApp({ clock, dataDir: join(folder, 'data') });
  const zone = `timeZone: 'Europe/Berlin'`;
  const source = definition(`
    night: { cron: '30 2 * * *', ${zone}, ${handle} },
    list: { cron: '15,45 2 * * *', ${zone}, ${handle} },
    earlier: { cron: '0 5 * * *', tz: 'Europe/Berlin', ${handle} },
    plain: { cron: '0 4 * * *', ${handle} }`);
  await install(app.call, await packSource(source));
});
afterAll(async () => {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Times of a day, in UTC, at which any of the schedules could run. */
const looked = ['00:15', '00:30', '00:45', '01:00', '01:15', '01:30', '01:45', '03:00', '04:00'];

/** Restarts the server shortly before a day. */
async function restartBefore(date: string): Promise<number> {
  await app.stop();
  const start = Date.parse(`${date}T00:00:00Z`) - 600_000;
  clock.jump(start - clock.now());
  app = await startApp({ clock, dataDir: join(folder, 'data') }, app.workspace);
  await app.settled();
  return start;
}

/** @returns times of each schedule on a day, in UTC */
async function day(date: string): Promise<Record<string, string[]>> {
  const from = Date.parse(`${date}T00:00:00Z`);
  for (const time of ['00:00', ...looked]) {
    clock.advance(Date.parse(`${date}T${time}:00Z`) - clock.now());
    await app.settled();
  }
  return runsSince(from);
}

async function runsSince(from: number): Promise<Record<string, string[]>> {
  const { data } = (await app.call('GET', `${path}/runs?limit=100`)).json;
  const createdRuns = (data as Json[]).filter(({ createdAt }) => Date.parse(createdAt) > from).reverse();
  const by = Map.groupBy(createdRuns, ({ handler }) => handler as string);
  return Object.fromEntries(
    [...by].map(([name, runs]) => [name, runs.map(({ createdAt }) => createdAt.slice(11, 16))]),
  );
}

test('a single time in a skipped hour runs at the end of the hour, and list times in it do not run', async () => {
  expect(await day('2027-03-28')).toEqual({ night: ['01:00'], earlier: ['03:00'], plain: ['04:00'] });
});

test('a single time in a repeated hour runs at the first occurrence, and list times run at both', async () => {
  await restartBefore('2027-10-31');
  expect(await day('2027-10-31')).toEqual({
    list: ['00:15', '00:45', '01:15', '01:45'],
    night: ['00:30'],
    earlier: ['04:00'],
    plain: ['04:00'],
  });
});

test('times missed over a clock change run once after the start, and then by the time zone again', async () => {
  const from = await restartBefore('2028-03-28');
  expect(await runsSince(from - 1)).toEqual({
    night: ['23:50'],
    list: ['23:50'],
    earlier: ['23:50'],
    plain: ['23:50'],
  });
  expect((await day('2028-03-28')).night).toEqual(['00:30']);
});

test('the API shows the time zone, and an unknown zone is refused at pack and at install', async () => {
  const { json } = await app.call('GET', path);
  expect(json.schedules.map(({ name, timeZone, tz }: Json) => [name, timeZone, tz])).toEqual([
    ['night', 'Europe/Berlin', 'Europe/Berlin'],
    ['list', 'Europe/Berlin', 'Europe/Berlin'],
    ['earlier', 'Europe/Berlin', 'Europe/Berlin'],
    ['plain', 'UTC', 'UTC'],
  ]);
  const document = await packSource(definition(`night: { cron: '30 2 * * *', timeZone: 'UTC', ${handle} }`));
  const refusedFor = async (schedule: object): Promise<Json> => {
    const { night } = document.manifest.schedules!;
    const schedules = { night: { ...night, ...schedule } };
    const body = {
      package: { ...document, manifest: { ...document.manifest, schedules } },
      grant: [],
      replace: true,
    };
    const { status, json } = await app.call('POST', '/api/v1/plugins', body);
    return [status, json.error?.details[0].path, json.error?.message];
  };
  const why = 'Unknown time zone Europe/Berlim; use one such as Europe/Berlin. Did you mean Europe/Berlin?';
  expect(await refusedFor({ timeZone: 'Europe/Berlim' })).toEqual([
    422,
    'package.manifest.schedules.night.timeZone',
    expect.stringContaining(why),
  ]);
  expect(await refusedFor({ tz: 'UTC' })).toEqual([
    422,
    'package.manifest.schedules.night.tz',
    expect.stringContaining('Remove `tz`.'),
  ]);
  expect((await refusedFor({ cron: undefined, timeZone: '+01:00' }))[0]).toBe(422);

  const source = definition(`night: {\n    cron: '30 2 * * *',\n    timeZone: 'Europe/Berlim', ${handle} }`);
  writeFileSync(
    join(folder, 'plugin.ts'),
    `import { definePlugin } from '@tatami/sdk/plugin';\nexport default definePlugin(${source});\n`,
  );
  await expect(packFolder(folder)).rejects.toThrow(/^plugin\.ts:4:\d+: .*Did you mean Europe\/Berlin\?/);
});
