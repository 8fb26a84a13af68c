// Earlier versions let a plugin subscribe to events without the scope to read them.
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installModel } from '../../core/features/plugins/installs/schema.ts';
import { emptyDirectory } from '../../core/kernel/resource/directory.ts';
import { composedStatement, type SqlRow } from '../../core/platform/store/statement.ts';
import { scopeOf } from '../../core/platform/store/store.ts';
import { createClock, startApp, type Json, type TestApp } from '../app.ts';
import { install, packSource } from '../plugins/pack.ts';

const find = composedStatement<SqlRow>(
  `SELECT ${installModel.select} FROM plugins WHERE workspace_id = :ws AND id = :id`,
);

/** Removes the scopes from an install, in its manifest and its grant. */
async function unask(app: TestApp, id: string): Promise<void> {
  const scope = scopeOf(app.workspace.workspaceId);
  const before = installModel.fromRow((await app.services.store.readOne(scope, find, { id }))!);
  const { scopes: _, ...manifest } = before.manifest;
  const change = installModel.update(before, { manifest, grant: [] }, app.clock.now())!;
  const author = {
    scope,
    actor: { kind: 'system' as const, id: 'test', name: 'Test' },
    cause: null,
    requestId: null,
    traceparent: null,
    directory: emptyDirectory,
  };
  expect((await app.committer.commit(author, [change], [], [])).ok).toBe(true);
}

test('an install without the scope of its events receives none, and the inbox reports it once', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tatami-test-'));
  let app = await startApp({ dataDir, clock: createClock() });
  try {
    const packed = await packSource(`{
      id: 'com.test.old', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'test' } },
      on: { 'issue.created': { handle: (event, ctx) => ctx.kv.set('seen', event.data.title) } },
    }`);
    const { id } = await install(app.call, packed);
    await unask(app, id);
    for (let starts = 0; starts < 2; starts++) {
      app = await app.restart();
      const issue = { team: 'ENG', title: `Unheard ${starts}` };
      expect((await app.call('POST', '/api/v1/issues', issue)).status).toBe(201);
      await app.settled();
      expect((await app.call('GET', `/api/v1/plugins/${id}/runs`)).json.data).toEqual([]);
      expect((await app.call('GET', `/api/v1/plugins/${id}`)).json).toMatchObject({
        events: [],
        stateReason: expect.stringContaining('issue.created needs issues:read'),
      });
      const items = (await app.call('GET', '/api/v1/inbox')).json.data.filter(
        (item: Json) => item.target.id === id,
      );
      expect(items).toMatchObject([{ body: expect.stringContaining('issues:read') }]);
    }
  } finally {
    await app.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
