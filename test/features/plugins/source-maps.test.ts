// Source maps are untrusted: an invalid one is refused, one stored before that check does not block runs, and a valid
// one applies at once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { sourceMapLookupOf } from '../../../core/features/plugins/source-positions.ts';
import { tenantStatement } from '../../../core/platform/store/statement.ts';
import { scopeOf, tenantOp } from '../../../core/platform/store/store.ts';
import type { PluginPackage } from '../../../sdk/plugin/manifest.ts';
import { install, packSource } from './pack.ts';

let app: TestApp;
let packed: PluginPackage;
beforeAll(async () => {
  app = await startApp();
  // The error names a position that no file has.
  packed = await packSource(`{
    id: 'com.test.maps', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
    on: { 'issue.created': { handle: async () => { throw new Error('no luck at plugin.js:0:0'); } } },
  }`);
});
afterAll(() => app.stop());

const mapWith = (mappings: string, sources: string[]) => ({ version: 3 as const, sources, mappings });
/** Mappings for more lines than the bundle has. */
const onEachLine = (first: string, next: string): string =>
  [first, ...Array<string>(400).fill(next)].join(';');

const setMap = tenantStatement(
  'test.set_source_map',
  'UPDATE plugin_code SET source_map = :map WHERE workspace_id = :ws AND id = :sha256',
);

/** The error of the first attempt of a run on a new issue. */
async function failure(call: Client, team: string): Promise<Json> {
  await call('POST', '/api/v1/issues', { team, title: 'One' });
  await app.settled();
  return (await call('GET', '/api/v1/plugins/com.test.maps/runs?limit=1')).json.data[0];
}

const broken: [name: string, mappings: string, sources: string[]][] = [
  ['a missing source', onEachLine('AAAA,AgBAA', ''), []],
  ['a source after the last', onEachLine('AAAA', 'ACAA'), ['plugin.ts']],
  ['a source before the first', onEachLine('ADAA', ''), ['plugin.ts']],
  ['a line before the first', onEachLine('AADA', ''), ['plugin.ts']],
  ['a column before the first', onEachLine('AAAD', ''), ['plugin.ts']],
];

test('a package whose source map has invalid positions is refused with the position', async () => {
  for (const [name, mappings, sources] of broken) {
    const body = { package: { ...packed, sourceMap: mapWith(mappings, sources) }, grant: ['issues:read'] };
    const { status, json } = await app.call('POST', '/api/v1/plugins', body);
    expect([name, status, json.error.details?.[0]?.path]).toEqual([name, 422, 'package.sourceMap.mappings']);
  }
});

test('with an invalid or unreadable source map, a failing run still ends its attempt', async () => {
  await install(app.call, packed);
  const wanted = await failure(app.call, 'ENG');
  expect(wanted).toMatchObject({ status: 'retrying', attempt: 1 });
  expect(wanted.error.message).toContain('plugin.js:0:0');
  expect(wanted.error.at).toStartWith('plugin.ts:');
  const storedMaps = [
    ...broken.map(([, mappings, sources]) => JSON.stringify(mapWith(mappings, sources))),
    '{"sou',
  ];
  for (const [n, map] of storedMaps.entries()) {
    const { apiKey, workspaceId } = await app.addWorkspace(`Maps ${n}`, `MAP${n}`);
    const call = app.clientOf(apiKey);
    await install(call, packed);
    const setMapOp = tenantOp(scopeOf(workspaceId), setMap, { sha256: packed.sha256, map });
    await app.services.store.commit([setMapOp]);
    const run = await failure(call, `MAP${n}`);
    expect([map.slice(0, 80), run.status, run.attempt]).toEqual([map.slice(0, 80), 'retrying', 1]);
    expect(run.error.at ?? '').not.toContain(':0');
    // The same code with a valid map, which applies from the next run on.
    await install(call, packed);
    expect((await failure(call, `MAP${n}`)).error).toEqual(wanted.error);
  }
  expect(app.logs.some(({ message }) => message === 'work failed')).toBe(false);
});

test('an impossible position is omitted', () => {
  const find = sourceMapLookupOf(mapWith('AAAA', ['plugin.ts']));
  expect([find(1, 1), find(0, 1), find(1, 0)]).toEqual([
    { file: 'plugin.ts', line: 1, column: 1 },
    null,
    null,
  ]);
});
