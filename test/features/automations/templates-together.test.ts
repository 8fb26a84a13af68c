// Enables all templates at once on real issues, and compares their effects with a plain count.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { filledTemplate, listTemplates } from '../../../core/features/automations/templates.ts';
import { startApp, type Json, type TestApp } from '../../app.ts';
import { createIssue, enabled, getIssue, v1, type RuleInput } from './rules.ts';

const realIssues = join(import.meta.dir, '../../../../shared/data/nlbse24-train.csv');
/** Every tenth of 1,500 in the fast form. */
const every = process.env.TATAMI_LONG === undefined ? 10 : 1;

interface Row {
  readonly label: string;
  readonly title: string;
  readonly body: string;
}

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
  for (const name of ['stale', 'release notes']) await app.call('POST', `${v1}/labels`, { name });
  await app.call('POST', `${v1}/teams`, { key: 'OPS' });
});
afterAll(() => app.stop());

/** Returns the runs of rules that have a status. */
async function runsIn(server: TestApp, rules: readonly Json[], status: string): Promise<Json[]> {
  const runs: Json[] = [];
  for (const { id } of rules)
    runs.push(...(await server.call('GET', `${v1}/plugins/${id}/runs?status=${status}`)).json.data);
  return runs;
}

test.skipIf(!existsSync(realIssues))(
  'all templates together act on real issues as a plain count expects, and no run fails',
  async () => {
    const values = { team: 'ENG', members: app.workspace.userId, word: 'crash' };
    const rules: Json[] = [];
    for (const { id, needs } of listTemplates()) {
      // Issues of the label stay in their team, so that their other effects can be counted.
      const set = { ...values, ...(id === 'route-by-label' ? { label: 'stale', team: 'OPS' } : {}) };
      const needed = Object.entries(set).filter(([name]) => name in needs);
      const file = Bun.YAML.parse(filledTemplate(id, Object.fromEntries(needed))) as RuleInput;
      rules.push(await enabled(app, file));
    }
    const draft = await createIssue(app, { title: 'Notes', labels: ['release notes'] });

    const rows = (parse(readFileSync(realIssues, 'utf8'), { columns: true }) as Row[]).filter(
      (_, at) => at % every === 0,
    );
    const created: Json[] = [];
    for (let at = 0; at < rows.length; at += 50) {
      const issues = rows.slice(at, at + 50).map(({ label, title, body }) => ({
        ...{ team: 'ENG', labels: [label], title: title.slice(0, 500), description: body.slice(0, 20_000) },
      }));
      const { status, json } = await app.call('POST', `${v1}/issues/bulk`, { issues });
      expect([status, json.error]).toEqual([201, undefined]);
      created.push(...json.data);
    }
    await app.settled();
    const bugs = created.filter((_, at) => rows[at]!.label === 'bug');
    const completed = bugs.slice(0, rows.length / 10);
    for (const { id } of completed) await app.call('PATCH', `${v1}/issues/${id}`, { state: 'completed' });
    await app.settled();
    // Runs that write the draft at the same time are attempted again, with a delay.
    while ((await runsIn(app, rules, 'retrying')).length > 0) {
      app.clock.advance(60_000);
      await app.settled();
    }

    const crashes = rows.filter(({ title, body }) =>
      `${title.slice(0, 500)}\n${body.slice(0, 20_000)}`.toLowerCase().includes('crash'),
    );
    const features = rows.filter(({ label }) => label === 'feature');
    const counted = async (query: string): Promise<number> =>
      (await app.call('GET', `${v1}/issues/count?team=ENG&${query}`)).json.count;
    const inFilter = (filter: object): string => `filter=${encodeURIComponent(JSON.stringify(filter))}`;
    expect({
      urgent: await counted('priority=urgent&parent=none'),
      subIssues: await counted(inFilter({ parent: { neq: 'none' } })),
      lines: (await getIssue(app, draft.id)).description.split('\n').filter((line: string) => line !== '')
        .length,
      replies: (await app.call('GET', `${v1}/issues/${bugs.at(-1)!.id}/comments`)).json.data.length,
    }).toEqual({
      urgent: crashes.length,
      subIssues: 3 * features.length,
      lines: completed.length,
      replies: 1,
    });
    expect(await runsIn(app, rules, 'dead')).toEqual([]);
    for (const { id } of rules)
      expect((await app.call('GET', `${v1}/automations/${id}`)).json.state).toBe('active');
  },
  60_000 * 5,
);
