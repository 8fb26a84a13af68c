// Performs every operation of the service once on every entity, so that every event type occurs.
import type { Contract, PlainOperation } from '../../core/kernel/contract/contract.ts';
import { contracts } from '../../core/features/contracts.ts';
import type { Json, TestApp } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
import { furtherOperations } from './operations/all.ts';

/** Performs one operation by the name of its route and returns the response body. */
export interface Did {
  (name: string, path: string, body?: unknown): Promise<Json>;
}

/** Resources whose operations are written out below, because they depend on each other. */
const writtenOut = [
  'issue',
  'comment',
  'reaction',
  'subscriber',
  'inbox_item',
  'favorite',
  'project',
  'project_update',
  'milestone',
  'pipeline',
  'release',
  'cycle',
  'label',
  'state',
  'sla_clock',
  'team',
  'member',
  'workspace',
  'api_key',
  'oauth_app',
  'grant',
  'webhook',
  'plugin',
  'relation',
  'template',
  'search',
  'proposal',
  'automation',
  'automation_host',
];

/**
 * Performs the plain operations of any other resource with its examples.
 * @param parents id of an object of each entity
 */
async function plainOperations(
  { name, path, parent, operations, examples = {} }: Contract,
  parents: Readonly<Record<string, string>>,
  did: Did,
): Promise<void> {
  if (writtenOut.includes(name)) return;
  const v1 = '/api/v1';
  const many = parent ? `${v1}/${parent.path}/${parents[parent.name]}/${path}` : `${v1}/${path}`;
  const { id } = await did(`${path}.create`, many, examples.create);
  const one = `${v1}/${path}/${id}`;
  const steps: Readonly<Record<Exclude<PlainOperation, 'create'>, () => Promise<Json>>> = {
    list: () => did(`${path}.list`, many),
    get: () => did(`${path}.get`, one),
    update: () => did(`${path}.update`, one, examples.update),
    delete: () => did(`${path}.delete`, one),
    restore: () => did(`${path}.restore`, `${one}/restore`),
  };
  for (const [operation, step] of Object.entries(steps)) if (operation in operations) await step();
}

/** @param receiverUrl ends in a slash; the path `gone` below it answers 410 */
export async function everyOperation(app: TestApp, receiverUrl: string, did: Did): Promise<void> {
  const v1 = '/api/v1';
  const hook = await did('webhooks.create', `${v1}/webhooks`, {
    url: receiverUrl,
    events: ['*'],
  });
  const member = await did('members.create', `${v1}/members`, {
    name: 'Ana Lindqvist',
    email: 'ana@acme.example',
  });
  await did('members.get', `${v1}/members/${member.id}`);
  await did('members.update', `${v1}/members/${member.id}`, { role: 'admin' });
  await did('members.list', `${v1}/members`);
  await did('members.invite', `${v1}/members/${member.id}/invitation`);
  await did('members.uninvite', `${v1}/members/${member.id}/invitation`);
  const team = await did('teams.create', `${v1}/teams`, { key: 'DOC' });
  await did('teams.get', `${v1}/teams/${team.id}`);
  await did('teams.update', `${v1}/teams/${team.id}`, { name: 'Documentation' });
  await did('teams.list', `${v1}/teams`);
  await did('workspace.get', `${v1}/workspace`);
  await did('me.get', `${v1}/me`);
  await did('usage.get', `${v1}/usage`);
  await did('workspace.update', `${v1}/workspace`, { name: 'Acme 2' });
  const started = { team: 'DOC', name: 'Review', type: 'started' };
  const state = await did('workflows.create', `${v1}/workflows`, started);
  await did('workflows.update', `${v1}/workflows/${state.id}`, { position: 9 });
  await did('workflows.list', `${v1}/workflows?team=DOC`);
  const label = await did('labels.create', `${v1}/labels`, { name: 'regression', team: 'DOC' });
  await did('labels.get', `${v1}/labels/${label.id}`);
  await did('labels.update', `${v1}/labels/${label.id}`, { color: '#ff0000' });
  await did('labels.list', `${v1}/labels`);
  const project = await did('projects.create', `${v1}/projects`, {
    name: 'Spring release',
    leadId: member.id,
    targetDate: '2027-03-01',
  });
  await did('projects.get', `${v1}/projects/${project.id}`);
  await did('projects.update', `${v1}/projects/${project.id}`, { status: 'started', health: 'at_risk' });
  await did('projects.list', `${v1}/projects`);
  const parent = await did('issues.create', `${v1}/issues`, {
    team: 'DOC',
    title: 'Make the editor faster',
    description: 'Typing redraws the whole page. '.repeat(8_500).slice(0, 256 * 1024),
  });
  const issue = await did('issues.create', `${v1}/issues`, {
    team: 'DOC',
    title: 'Saving a long comment fails',
    description: 'Above **60 KiB** the save button does nothing.',
    priority: 'urgent',
    stateId: state.id,
    assigneeId: member.id,
    labels: ['regression', 'bug'],
    projectId: project.id,
    parentId: parent.id,
    estimate: 2.5,
    dueDate: '2027-01-31',
    externalSource: 'github',
    externalId: 'acme/editor#118',
  });
  await did('issues.get', `${v1}/issues/${issue.id}`);
  await did('issues.list', `${v1}/issues`);
  await did('issues.list', `${v1}/issues?fields=title,labels`);
  await did('issues.bulk', `${v1}/issues/bulk`, {
    issues: [
      { team: 'DOC', title: 'The search page is empty', priority: 'high' },
      { team: 'DOC', title: 'Describe the new filters' },
    ],
  });
  const other = (await app.call('GET', `${v1}/workflows?team=DOC`)).json.data.find(
    ({ id }: Json) => id !== state.id,
  );
  await did('issues.update', `${v1}/issues/${issue.id}`, {
    priority: 'low',
    stateId: other.id,
    assigneeId: null,
    labels: [],
  });
  const external = `${v1}/issues/external/elsewhere/7`;
  const upsert = { team: 'DOC', title: 'From elsewhere', labels: ['bug'] };
  await did('issues.external.put', external, upsert);
  await did('issues.external.put', external, { title: 'Renamed' });
  await did('issues.external.get', external);
  await did('issues.bulk-update', `${v1}/issues/bulk-update`, {
    ids: ['DOC-3', 'DOC-4'],
    set: { priority: 'high', addLabels: ['bug'] },
  });
  await did('issues.bulk-delete', `${v1}/issues/bulk-delete`, { ids: ['DOC-4'] });
  await did('issues.delete', `${v1}/issues/DOC-5`);
  await did('issues.list', `${v1}/issues?deleted=only`);
  await did('issues.count', `${v1}/issues/count?groupBy=state`);
  await did('issues.titles', `${v1}/issues/titles?q=a`);
  await did('issues.purge', `${v1}/issues/DOC-5/purge`);
  await did('issues.delete', `${v1}/issues/${parent.id}`);
  await did('issues.restore', `${v1}/issues/${parent.id}/restore`);
  await did('issues.history', `${v1}/issues/${issue.id}/history`);
  for (const steps of furtherOperations) await steps({ app, did, team, issue, parent, member, project });
  const comment = await did('comments.create', `${v1}/issues/${issue.id}/comments`, {
    body: 'I can reproduce this on 1.4.',
  });
  await did('comments.create', `${v1}/issues/${issue.id}/comments`, {
    body: 'So can I.',
    parentId: comment.id,
  });
  await did('comments.get', `${v1}/comments/${comment.id}`);
  await did('comments.update', `${v1}/comments/${comment.id}`, {
    body: 'I can reproduce this on 1.4 and 1.5.',
  });
  await did('comments.resolve', `${v1}/comments/${comment.id}/resolve`);
  await did('comments.unresolve', `${v1}/comments/${comment.id}/unresolve`);
  await did('comments.list', `${v1}/issues/${issue.id}/comments`);
  await did('comments.delete', `${v1}/comments/${comment.id}`);
  await did('comments.restore', `${v1}/comments/${comment.id}/restore`);
  await did('comments.delete', `${v1}/comments/${comment.id}`);
  const parents = { issue: issue.id, project: project.id, team: team.id, member: member.id };
  for (const contract of contracts) await plainOperations(contract, parents, did);
  const key = await did('api-keys.create', `${v1}/api-keys`, {
    name: 'ci',
    scopes: ['issues:read'],
    expiresAt: '2027-01-01T00:00:00Z',
  });
  await did('api-keys.get', `${v1}/api-keys/${key.id}`);
  await did('api-keys.list', `${v1}/api-keys`);
  const rolled = await did('api-keys.roll', `${v1}/api-keys/${key.id}/roll`, { graceHours: 2 });
  await did('api-keys.delete', `${v1}/api-keys/${rolled.id}`);
  const plugin = `${v1}/plugins/com.acme.triage`;
  const packed = (version: string) =>
    packSource(
      `{ id: 'com.acme.triage', name: 'Triage', description: 'Sorts new issues.', version: '${version}', engines: { tatami: '*' }, scopes: { 'issues:write': { why: 'To set how much an issue presses.' } }, net: [{ origin: 'https://api.acme.dev', methods: ['POST'], path: '/v1/', why: 'To have texts classified.' }], secrets: { ACME_KEY: { hosts: ['https://api.acme.dev'], header: 'authorization', format: 'Bearer {}' } }, on: { 'issue.created': { async handle(event, ctx) { await ctx.issues.update(event.data.id, { priority: 'high' }); ctx.log.info('sorted'); } } }, schedules: { nightly: { cron: '0 3 * * *', handle() { throw new Error('Not tonight.'); } }, remind: { handle() {} } }, settings: { type: 'object', properties: { greeting: { type: 'string', title: 'Greeting', default: 'Hello' } } }, actions: { retriage: { target: 'issue', title: 'Triage again', input: { type: 'object', properties: { priority: { type: 'string', default: 'low' } } }, async handle({ target, input }, ctx) { await ctx.issues.update(target.id, { priority: input.priority }); await ctx.schedule.once('remind', ctx.now() + 86400000, { issue: target.id }); return { was: target.priority }; } } }, routes: { hook: { method: 'POST', auth: 'hmac', why: 'Told of builds.', handle() {} } } }`,
    );
  await did('plugins.preview', `${v1}/plugins/preview`, { package: await packed('1.0.0') });
  await did('plugins.install', `${v1}/plugins`, {
    ...{ package: await packed('1.0.0'), grant: ['issues:write'] },
    probation: false,
  });
  await did('plugins.install', `${v1}/plugins`, { package: await packed('1.1.0'), grant: ['issues:write'] });
  await app.call('POST', `${v1}/issues`, { team: 'DOC', title: 'Crash: TypeError' });
  await app.settled();
  const { id: issueId } = (await app.call('GET', `${v1}/issues?limit=1`)).json.data[0];
  await did('plugins.costs-of-issue', `${v1}/issues/${issueId}/costs`);
  await did('plugins.usage', `${plugin}/usage`);
  await did('plugins.scopes', `${plugin}/scopes`);
  await did('plugins.versions', `${plugin}/versions`);
  for (const refused of [true, false]) {
    const wider = await packed('1.2.0');
    const scopes = { ...wider.manifest.scopes, 'labels:read': { why: 'to know them' } };
    const manifest = { ...wider.manifest, scopes };
    await app.call('POST', `${v1}/plugins`, { package: { ...wider, manifest } });
    await did('plugins.consent.get', `${plugin}/consent`);
    if (refused) await did('plugins.consent.refuse', `${plugin}/consent`);
    else
      await did('plugins.consent.give', `${plugin}/consent`, {
        grant: ['issues:write'],
        sha256: wider.sha256,
      });
  }
  await did('plugins.rollback', `${plugin}/rollback`, { version: '1.1.0' });
  await did('plugins.list', `${v1}/plugins`);
  await did('plugins.get', plugin);
  const runs = await did('plugins.runs', `${plugin}/runs`);
  await did('runs.get', `${v1}/runs/${runs.data[0].id}`);
  await did('runs.recording', `${v1}/runs/${runs.data[0].id}/recording`);
  await did('runs.replay', `${v1}/runs/${runs.data[0].id}/replay`, {});
  const undone = await did('runs.undo', `${v1}/runs/${runs.data[0].id}/undo`);
  await did('undos.undo', `${v1}/undos/${undone.id}/undo`);
  const { data: sorted } = (await app.call('GET', `${v1}/issues?limit=1`)).json;
  await did('issues.trail', `${v1}/issues/${sorted[0].id}/trail`);
  await did('plugins.undo', `${plugin}/undo`, { since: '2026-11-20T00:00:00Z' });
  await did('plugins.settings-form', `${plugin}/settings-form`);
  await did('plugins.actions', `${plugin}/actions`);
  const called = await did('plugins.call-action', `${plugin}/actions/retriage`, { target: 'DOC-1' });
  await did('plugins.action-run', `${plugin}/actions/retriage/runs/${called.id}`);
  await did('plugins.scheduled', `${plugin}/scheduled`);
  await did('plugins.unschedule', `${plugin}/scheduled/remind`);
  await did('plugins.open-route', `${plugin}/routes/hook/open`);
  await did('plugins.routes', `${plugin}/routes`);
  await did('plugins.close-route', `${plugin}/routes/hook`);
  const queuedRun = await did('plugins.run-schedule', `${plugin}/schedules/nightly/run`);
  // The delivery has failed and waits for its retry, so that it cannot end before its cancellation.
  await app.settled();
  await did('runs.cancel', `${v1}/runs/${queuedRun.id}/cancel`);
  await app.settled();
  await did('runs.retry', `${v1}/runs/${queuedRun.id}/retry`);
  await did('plugins.missed', `${plugin}/catch-up`);
  await did('plugins.catch-up', `${plugin}/catch-up`);
  await app.settled();
  await app.call('PUT', `${plugin}/kv/note`, { value: null });
  await did('plugins.kv.set', `${plugin}/kv/note`, { value: { a: 1 } });
  await did('plugins.kv.get', `${plugin}/kv/note`);
  await did('plugins.kv.list', `${plugin}/kv`);
  await did('plugins.kv.delete', `${plugin}/kv/note`);
  await did('plugins.secrets.set', `${plugin}/secrets/ACME_KEY`, { value: 'sk_test_1234567890' });
  await did('plugins.secrets.get', `${plugin}/secrets/ACME_KEY`);
  await did('plugins.secrets.list', `${plugin}/secrets`);
  await did('plugins.secrets.delete', `${plugin}/secrets/ACME_KEY`);
  const tried = await did('plugins.backtest', `${plugin}/backtests`, {});
  await did('plugins.gate', `${plugin}/gate`, { package: await packed('1.2.0') });
  await app.settled();
  await did('backtests.get', `${v1}/backtests/${tried.id}`);
  const begun = await did('backtests.create', `${v1}/backtests`, { package: await packed('1.2.0') });
  await did('backtests.cancel', `${v1}/backtests/${begun.id}/cancel`);
  await did('backtests.list', `${v1}/backtests`);
  await did('plugins.begin-shadow', `${plugin}/shadow`, { package: await packed('1.2.0') });
  await did('plugins.shadow', `${plugin}/shadow`);
  await did('plugins.stop-shadow', `${plugin}/shadow`);
  await did('plugins.update', plugin, { mode: 'simulate' });
  await app.call('POST', `${v1}/issues`, { team: 'DOC', title: 'Crash on logout' });
  await app.settled();
  await did('plugins.runs', `${plugin}/runs`);
  await did('plugins.delete', plugin);
  await did('workflows.delete', `${v1}/workflows/${state.id}`);
  await did('labels.delete', `${v1}/labels/${label.id}`);
  await did('members.delete', `${v1}/members/${member.id}`);
  await app.settled();
  await did('webhooks.get', `${v1}/webhooks/${hook.id}`);
  await did('webhooks.list', `${v1}/webhooks`);
  const deliveries = await did('webhooks.deliveries', `${v1}/webhooks/${hook.id}/deliveries`);
  await did('deliveries.get', `${v1}/deliveries/${deliveries.data[0].id}`);
  await did('deliveries.replay', `${v1}/deliveries/${deliveries.data[0].id}/replay`);
  await did('deliveries.list', `${v1}/deliveries?webhook=${hook.id}&status=delivered`);
  const closed = { url: 'http://127.0.0.1:1/', events: ['label.*'] };
  const { json: down } = await app.call('POST', `${v1}/webhooks`, closed);
  const gone = { url: `${receiverUrl}gone`, events: ['label.*'] };
  await app.call('POST', `${v1}/webhooks`, gone);
  await app.call('POST', `${v1}/labels`, { name: 'unheard' });
  await app.settled();
  const { json: open } = await app.call('GET', `${v1}/webhooks/${down.id}/deliveries`);
  await did('deliveries.cancel', `${v1}/deliveries/${open.data[0].id}/cancel`);
  const replay = await did('webhooks.replay', `${v1}/webhooks/${down.id}/replays`, { afterSequence: 0 });
  await app.settled();
  await did('replays.get', `${v1}/replays/${replay.id}`);
  await did('webhooks.replays', `${v1}/webhooks/${down.id}/replays`);
  await did('webhooks.ping', `${v1}/webhooks/${hook.id}/ping`);
  await did('events.sample', `${v1}/events/samples`, { type: 'issue.created' });
  await did('webhooks.sample', `${v1}/webhooks/${hook.id}/samples`, { type: 'issue.created' });
  await app.settled();
  await did('webhooks.rotate', `${v1}/webhooks/${hook.id}/rotate`, { overlapHours: 1 });
  await did('webhooks.update', `${v1}/webhooks/${hook.id}`, { description: 'Tells the chat of the team.' });
  await did('webhooks.update', `${v1}/webhooks/${hook.id}`, { enabled: false });
  await did('webhooks.delete', `${v1}/webhooks/${hook.id}`);
  const events = await did('events.list', `${v1}/events?limit=100`);
  await did('events.get', `${v1}/events/${events.data[0].id}`);
  await did('audit-log.list', `${v1}/audit-log`);
  await did('health.live', '/healthz');
  await did('health.ready', '/readyz');
  await did('openapi.get', `${v1}/openapi.json`);
}
