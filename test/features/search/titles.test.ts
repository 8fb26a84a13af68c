// Palettes and pickers find issues by the beginning of an identifier or of words.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';

const v1 = '/api/v1';
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  const issues = Array.from({ length: 60 }, (_, n) => ({ team: 'ENG', title: `Crash ${n + 1}` }));
  await app.call('POST', `${v1}/issues/bulk`, { issues });
  await app.call('POST', `${v1}/teams`, { key: 'OPS', name: 'Operations' });
  for (const title of ['Pager', 'Disk']) await app.call('POST', `${v1}/issues`, { team: 'OPS', title });
});
afterAll(() => app.stop());

const found = async (q: string, more = '', who: Client = app.call): Promise<string[]> => {
  const path = `${v1}/issues/titles?q=${encodeURIComponent(q)}${more}`;
  return (await who('GET', path)).json.data.map(({ identifier }: Json) => identifier);
};
const numbers = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, n) => `ENG-${from + n}`);

test('the issue with the identifier comes first, followed by longer identifiers in order', async () => {
  expect(await found('ENG-1')).toEqual(['ENG-1', ...numbers(10, 19)]);
  expect(await found('eng-6')).toEqual(['ENG-6', 'ENG-60']);
  expect(await found('ENG-12')).toEqual(['ENG-12']);
  expect(await found('ENG-61')).toEqual([]);
  expect(await found('OPS-')).toEqual([]);
});

test('at most 20 issues are found', async () => {
  const issues = Array.from({ length: 60 }, (_, n) => ({ team: 'ENG', title: `Later ${n + 61}` }));
  await app.call('POST', `${v1}/issues/bulk`, { issues });
  expect(await found('ENG-1')).toEqual(['ENG-1', ...numbers(10, 19), ...numbers(100, 108)]);
});

test('deleted issues, other teams of the filter and teams that the caller does not see are left out', async () => {
  const gone = (await app.call('GET', `${v1}/issues/ENG-13`)).json;
  await app.call('DELETE', `${v1}/issues/${gone.id}`);
  expect(await found('ENG-13')).toEqual([]);
  expect(await found('OPS-', '&team=OPS')).toEqual([]);
  expect(await found('OPS-1')).toEqual(['OPS-1']);
  expect(await found('OPS-1', '&team=ENG')).toEqual([]);
  const guest = (await app.call('POST', `${v1}/members`, { name: 'Guest', role: 'guest', teams: ['OPS'] }))
    .json;
  const { json: key } = await app.call('POST', `${v1}/api-keys`, {
    ...{ name: 'guest', scopes: ['issues:read'] },
    memberId: guest.id,
  });
  const asGuest = app.clientOf(key.key);
  expect(await found('OPS-2', '', asGuest)).toEqual(['OPS-2']);
  expect(await found('ENG-4', '', asGuest)).toEqual([]);
});
