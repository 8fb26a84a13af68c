import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Client, type Json, type TestApp } from '../../app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.stop());

async function make(title: string, description = '', as: Client = app.call, team = 'ENG'): Promise<Json> {
  return (await as('POST', '/api/v1/issues', { team, title, description })).json;
}
const similar = async (id: string, more = ''): Promise<Json[]> =>
  (await app.call('GET', `/api/v1/issues/${id}/similar${more}`)).json.data;

test('duplicates come first, with a score and the words they share', async () => {
  for (let n = 0; n < 30; n++) await make(`The page is slow, case ${n}`, 'It takes long to load the page.');
  const first = await make('Export to PDF crashes with ligatures', 'TypeError in glyphTable when exporting.');
  const same = await make('PDF export crash: ligatures', 'See glyphTable, TypeError.');
  const page = await make('The export page is slow', 'It takes long.');
  const data = await similar(first.id);
  expect(data[0]).toMatchObject({ issue: { id: same.id } });
  expect(data[0]!.score).toBeGreaterThan(0.5);
  expect(data[0]!.score).toBeLessThanOrEqual(1);
  expect(data[0]!.evidence).toContain('ligatures');
  expect(data.map(({ issue }) => issue.id)).not.toContain(first.id);
  const ofPage = data.find(({ issue }) => issue.id === page.id);
  expect(ofPage?.score ?? 0).toBeLessThan(data[0]!.score);
  expect((await similar(first.identifier))[0]).toEqual(data[0]);
});

test('results stay within the team when it is given, always within the workspace, and contain no deleted issue', async () => {
  await app.call('POST', '/api/v1/teams', { key: 'OPS', name: 'Ops' });
  const own = await make('Kubernetes ingress certificate expired');
  const ops = await make('Ingress certificate expired in kubernetes', '', app.call, 'OPS');
  const other = await app.addWorkspace('Other', 'OTH');
  await make('Kubernetes ingress certificate expired', '', app.clientOf(other.apiKey), 'OTH');
  expect((await similar(own.id)).map(({ issue }) => issue.id)).toEqual([ops.id]);
  expect(await similar(own.id, '?within=team')).toEqual([]);
  await app.call('DELETE', `/api/v1/issues/${ops.id}`);
  expect(await similar(own.id)).toEqual([]);
  expect((await app.call('GET', '/api/v1/issues/OTH-1/similar')).status).toBe(404);
});

test('an issue without words has no similar issues', async () => {
  const { id } = await make('!?');
  expect(await similar(id)).toEqual([]);
});
