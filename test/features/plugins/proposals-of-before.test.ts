// A proposal outlives the server version of its creation: if its operation no longer exists, its approval reports that,
// and it can still be read and rejected.
import { expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { createSealing } from '../../../core/platform/lib/secrets/sealing.ts';
import { openWrites, sealWrites } from '../../../core/features/proposals/make.ts';
import { createClock, startApp, type Client, type Json, type TestApp } from '../../app.ts';
import { allTrackerScopes, install, packSource } from './pack.ts';

const removed = 'issues.grade';

/** Changes the proposals as a version with another operation would have left them. */
function asOfBefore(dataDir: string): void {
  const key = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
  const sealing = createSealing(new Uint8Array(key));
  const db = new Database(join(dataDir, 'tatami.db'));
  const rows = db
    .prepare('SELECT workspace_id, id, writes_sealed_json, diff_json FROM proposals')
    .all() as Record<string, string>[];
  for (const {
    workspace_id: ws = '',
    id = '',
    writes_sealed_json: sealed = '',
    diff_json: diff = '',
  } of rows) {
    const writes = openWrites(sealing, ws, { id, writesSealed: JSON.parse(sealed) as string });
    const renamed = writes.map((write) => ({ ...write, operation: removed }));
    db.prepare(
      'UPDATE proposals SET writes_sealed_json = ?, diff_json = ? WHERE workspace_id = ? AND id = ?',
    ).run(
      JSON.stringify(sealWrites(sealing, ws, id, renamed)),
      diff.replaceAll('issues.update', removed),
      ws,
      id,
    );
  }
  db.close();
}

const graded = `{
  id: 'com.test.grades', version: '1.0.0', engines: { tatami: '*' }, scopes: ${allTrackerScopes},
  on: { 'issue.created': { handle: async ({ data }, ctx) => {
    if (data.title !== 'asked') await ctx.issues.update(data.id, { priority: 'high' });
  } } },
}`;

/** A key of a member other than the administrator. */
async function agentOf(app: TestApp): Promise<Client> {
  const { json: member } = await app.call('POST', '/api/v1/members', {
    ...{ name: 'Ada', email: 'ada@example.com', role: 'member' },
  });
  const minted = await app.call('POST', '/api/v1/api-keys', {
    ...{ name: 'ada', memberId: member.id, scopes: ['issues:read', 'proposals:write'] },
  });
  return app.clientOf(minted.json.key);
}

test('an approval of a removed operation is answered with 409, and the proposal is unchanged and can be rejected', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-of-before-'));
  const clock = createClock();
  let app = await startApp({ clock, dataDir });
  const { id: plugin } = await install(app.call, await packSource(graded), { mode: 'propose' });
  const file = async (title: string): Promise<string> =>
    (await app.call('POST', '/api/v1/issues', { team: 'ENG', title })).json.id;
  const proposedId = await file('asked');
  const agent = await agentOf(app);
  const byRequest: Json = (
    await agent('PATCH', `/api/v1/issues/${proposedId}`, { priority: 'low' }, { 'tatami-mode': 'propose' })
  ).json;
  const issues = [await file('worked out anew'), await file('of a plugin that left')];
  await app.settled();
  const { workspace } = app;
  await app.stop();
  asOfBefore(dataDir);
  app = await startApp({ clock, dataDir }, workspace);
  const from = await app.lastSequence();
  const path = (id: string, does = ''): string => `/api/v1/proposals/${id}${does}`;

  const refused = await app.call('POST', path(byRequest.id, '/approve'), {});
  expect([refused.status, refused.json.error.code, refused.json.error.message]).toEqual([
    409,
    'conflict',
    `The proposal can no longer be applied: This version of Tatami has no operation ${removed}. Reject the proposal.`,
  ]);
  expect((await app.call('GET', path(byRequest.id))).json).toMatchObject({
    status: 'open',
    revision: 1,
    effects: [{ operation: removed, entityId: proposedId }],
  });
  expect((await app.call('POST', path(byRequest.id, '/reject'), { reason: 'Too old.' })).status).toBe(200);

  // The plugin runs again and proposes an existing operation.
  const open: Json[] = (await app.call('GET', '/api/v1/proposals?status=open')).json.data;
  const [anew, left] = issues.map((id) => open.find(({ effects }) => effects[0].entityId === id).id);
  expect((await app.call('POST', path(anew, '/approve'), {})).json.error.message).toContain('revision 2');
  expect((await app.call('POST', path(anew, '/approve'), { revision: 2 })).status).toBe(200);
  expect((await app.call('GET', `/api/v1/issues/${issues[0]}`)).json.priority).toBe('high');
  await app.call('DELETE', `/api/v1/plugins/${plugin}`);
  await app.settled();
  expect((await app.call('GET', path(left))).json).toMatchObject({ status: 'rejected' });
  expect((await app.call('POST', path(left, '/approve'), {})).status).toBe(409);
  for (const id of [proposedId, issues[1]!])
    expect((await app.call('GET', `/api/v1/issues/${id}`)).json).toMatchObject({
      priority: 'none',
      version: 1,
    });

  await app.settled();
  expect((await app.eventTypes(from)).filter((type) => !type.startsWith('inbox.'))).toEqual([
    'automation.rejected',
    'automation.proposed',
    'issue.updated',
    'automation.approved',
    'plugin.disabled',
    'automation.rejected',
  ]);
  await app.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
