// `tatami automations`: runs of rules, and what people read about them.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startApp, type Json, type TestApp } from '../app.ts';
import { tatami, type CliResult } from './tatami.ts';

const v1 = '/api/v1';
let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.stop();
});

const run = (...args: string[]): Promise<CliResult> =>
  tatami(args, { TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey });
const created = async (path: string, body: object): Promise<Json> => {
  const { status, json } = await app.call('POST', `${v1}${path}`, body);
  expect([path, status]).toEqual([path, 201]);
  return json;
};
const newIssue = (title: string): Promise<Json> => created('/issues', { team: 'ENG', title });
const newRule = async (name: string, actions: readonly object[], more: object = {}): Promise<Json> => {
  const rule = { name, trigger: { type: 'manual' }, actions, probation: false, ...more };
  const { id } = await created('/automations', rule);
  return (await app.call('POST', `${v1}/automations/${id}/enable`, { force: true })).json;
};

test('a run by hand exits with 0 only if it succeeds', async () => {
  const label = await created('/labels', { name: 'passing' });
  await newRule('Label', [{ type: 'add', field: 'labels', values: ['passing'] }]);
  const done = await run('automations', 'run', 'Label', '--issue', (await newIssue('Labeled')).id);
  expect(done.code).toBe(0);
  await app.call('DELETE', `${v1}/labels/${label.id}`);
  const { identifier } = await newIssue('Not labeled');
  const dead = await run('automations', 'run', 'Label', '--issue', identifier);
  expect([dead.code, dead.err]).toEqual([
    1,
    expect.stringContaining(
      'The run failed and is not retried automatically. Correct the cause, then run the automation again.\n',
    ),
  ]);
  expect(dead.out).toContain('  dead  ');
  const json = await run('automations', 'run', 'Label', '--issue', identifier, '--json');
  expect([json.code, json.json.status]).toEqual([1, 'dead']);
}, 60_000);

const comment = { type: 'comment', body: 'Hello {{ issue.title }}\n\n**Bye**' };

test('a simulation, a run and its backtest show the effects', async () => {
  const { identifier } = await newIssue('See effects');
  await newRule('Effects', [{ type: 'set', fields: { priority: 'high' } }, comment], {
    trigger: { type: 'event', event: 'issue.created', filter: { title: { contains: 'effects' } } },
  });
  const effects = `update issue ${identifier}
  priority: "none" → "high"
create comment on ${identifier}
  Hello See effects

  **Bye**
`;
  expect((await run('automations', 'simulate', 'Effects', '--issue', identifier)).out).toBe(effects);
  const backtest = (await app.call('GET', `${v1}/backtests`)).json.data[0];
  await app.settled();
  const tried = (await run('backtests', 'show', backtest.id)).out;
  expect(tried).toMatch(/ {2}priority: "none" → "high" {3}no later change\nwould comment create × 1\n/);
  expect(tried).toContain(`  on ${identifier}:\n    Hello See effects\n\n    **Bye**\n`);
  const done = await run('automations', 'run', 'Effects', '--issue', identifier);
  expect(done.out).toMatch(
    /\n {2}applied: update issue iss_\w+ \(priority\)\n {2}applied: create comment cmt_/,
  );
  const [, id] = / {2}(run_\w+) /.exec(done.out)!;
  expect((await run('runs', 'show', id!)).out).toBe(done.out);
}, 60_000);

test('a rule that would do nothing says so, and why', async () => {
  const { identifier } = await newIssue('Untouched');
  await newRule('Nothing', [comment], {
    conditions: { issue: { priority: 'urgent' } },
    trigger: { type: 'event', event: 'issue.updated' },
  });
  await app.settled();
  expect((await run('automations', 'simulate', 'Nothing', '--issue', identifier)).out).toBe(
    `It would change nothing.\ninfo  Skipped ${identifier}: the issue does not match.\n`,
  );
  const backtest = (await app.call('GET', `${v1}/backtests`)).json.data[0];
  expect((await run('backtests', 'show', backtest.id)).out).toContain('\nIt would change nothing.\n');
}, 60_000);

test('health shows the facts of its page', async () => {
  const label = await created('/labels', { name: 'gone' });
  const { id } = await newRule('Health', [
    { type: 'set', fields: { priority: 'high' } },
    { type: 'add', field: 'labels', values: ['gone'] },
  ]);
  const issue = await newIssue('Overruled');
  await run('automations', 'run', 'Health', '--issue', issue.id);
  await app.call('PATCH', `${v1}/issues/${issue.id}`, { priority: 'low' });
  await app.call('DELETE', `${v1}/labels/${label.id}`);
  await run('automations', 'run', 'Health', '--issue', (await newIssue('Fails')).id);
  await app.settled();
  const { out } = await run('automations', 'health', id);
  expect(out).toMatch(/^Last acted {7}2026-11-20 \d\d:\d\dZ\nLast run {9}2026-11-20 /);
  expect(out).toContain(
    'Runs in 30 days  2, of which 1 acted, 0 proposed, 1 failed\nToday            2 runs, ',
  );
  expect(out).toContain(
    `\nOverruled by people\n  People changed 1 of 1 back (100 %).\n  ${issue.identifier}  priority: set to "high", then to "low" by `,
  );
  expect(out).toMatch(/\nFailures\n {2}.+ \(1 time, last 2026-11-20 \d\d:\d\dZ by run_\w+\)\n/);
  expect(out).toContain('\nLoops\n  It did not trigger itself.\n');
  expect(out).toEndWith('\nConflicts\n  No other automation sets the same fields otherwise.\n');
}, 60_000);

test('the name of an automation is taken wherever an install is named', async () => {
  const { id } = await newRule('By Name', [{ type: 'set', fields: { priority: 'high' } }], {
    mode: 'propose',
  });
  const lower = await newRule('by-name', [comment], { mode: 'propose' });
  const issue = await newIssue('Named');
  for (const one of ['first', 'second']) {
    const title = `Named ${one}`;
    await run('automations', 'run', 'By Name', '--issue', (await newIssue(title)).identifier);
  }
  await run('automations', 'run', lower.id, '--issue', issue.identifier);
  const runs = (await app.call('GET', `${v1}/plugins/${id}/runs`)).json.data.map((one: Json) => one.id);
  for (const noun of ['automations', 'plugins']) {
    const { out } = await run(noun, 'runs', 'By Name');
    expect([...out.matchAll(/^\S+ {2}(run_\w+)/gm)].map(([, one]) => one)).toEqual(runs);
  }
  const [of] = (await run('proposals', 'list', '--install', lower.id, '--json')).json;
  expect((await run('proposals', 'list', '--install', 'by-name', '--json')).json).toEqual([of]);
  expect((await run('proposals', 'list', '--install', 'By Name', '--json')).json).toHaveLength(2);
  const none = await run('proposals', 'list', '--install', 'By Nam');
  expect([none.code, none.err]).toEqual([
    1,
    expect.stringContaining('There is no automation By Nam. Did you mean By Name?'),
  ]);
  expect((await run('plugins', 'runs', 'By Nam')).err).toContain('There is no plugin By Nam.');
  expect((await run('plugins', 'runs', 'no-such')).err).toContain('There is no plugin no-such.');
  expect((await run('automations', 'runs', '--help')).out).toContain('tatami automations runs AUTOMATION');
}, 60_000);
