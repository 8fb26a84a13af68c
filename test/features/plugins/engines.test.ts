// An install whose `engines` exclude the server version is shown as incompatible and does not run.
import { expect, test } from 'bun:test';
import { installModel } from '../../../core/features/plugins/installs/model.ts';
import { emptyDirectory } from '../../../core/kernel/resource/directory.ts';
import { composedStatement, type SqlRow } from '../../../core/platform/store/statement.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { install, packSource } from './pack.ts';

const noticing = `{
  id: 'com.test.fits', version: '1.0.0', engines: { tatami: '*' }, scopes: { 'issues:read': { why: 'look' } },
  on: { 'issue.created': { handle: (event, ctx) => ctx.kv.set('ran', '1.0.0') } },
}`;

const find = composedStatement<SqlRow>(
  `SELECT ${installModel.select} FROM plugins WHERE workspace_id = :ws AND id = :id`,
);

/** Changes the required server version of an install, as if the server had been upgraded. */
async function wantServer(on: TestApp, id: string, tatami: string): Promise<void> {
  const scope = scopeOf(on.workspace.workspaceId);
  const before = installModel.fromRow((await on.services.store.readOne(scope, find, { id }))!);
  const manifest = { ...before.manifest, engines: { tatami } };
  const change = installModel.update(before, { manifest }, on.clock.now())!;
  const actor = { kind: 'system' as const, id: 'test', name: 'Test' };
  const author = { scope, actor, cause: null, requestId: null, traceparent: null, directory: emptyDirectory };
  expect((await on.committer.commit(author, [change], [], [])).ok).toBe(true);
}

test('an incompatible install is shown as such and does not run until it is compatible again', async () => {
  let own = await startApp();
  try {
    const { id } = await install(own.call, await packSource(noticing));
    const path = `/api/v1/plugins/${id}`;
    const readPlugin = async (): Promise<Json> => (await own.call('GET', path)).json;
    await wantServer(own, id, '>=99.0.0');
    let before = await own.lastSequence();
    own = await own.restart();
    expect(await readPlugin()).toMatchObject({
      state: 'incompatible',
      stateReason: expect.stringContaining('>=99.0.0'),
    });
    await own.settled();
    expect(await own.eventTypes(before)).toContain('plugin.disabled');
    await own.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Unseen' });
    await own.settled();
    expect((await own.call('GET', `${path}/runs`)).json.data).toEqual([]);
    expect(await own.call('PATCH', path, { state: 'active' })).toMatchObject({ status: 409 });

    await wantServer(own, id, '*');
    before = await own.lastSequence();
    own = await own.restart();
    expect(await readPlugin()).toMatchObject({ state: 'active', stateReason: null });
    await own.settled();
    expect(await own.eventTypes(before)).toContain('plugin.updated');
    await own.call('POST', '/api/v1/issues', { team: 'ENG', title: 'Seen' });
    await own.settled();
    expect((await own.call('GET', `${path}/kv/ran`)).json.value).toBe('1.0.0');
  } finally {
    await own.stop();
  }
});
