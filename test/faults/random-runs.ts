// Random runs of a plugin that writes several objects at once; each run is undone and redone a random number of times.
import type { Json } from '../app.ts';
import { packSource } from '../features/plugins/pack.ts';
import type { Random } from '../random.ts';

const v1 = '/api/v1';
const id = 'com.test.rework';
const definition = `{
  id: '${id}', version: '1.0.0', engines: { tatami: '*' },
  scopes: { 'issues:write': { why: 'test' }, 'comments:write': { why: 'test' }, 'attachments:write': { why: 'test' } },
  actions: { rework: { target: 'none', input: { type: 'object', properties: { calls: { type: 'string' } } }, async handle({ input }, ctx) {
    const calls = {
      update: (on, patch) => ctx.issues.update(on, patch),
      part: (on, parent) => ctx.issues.update(on, { parentId: parent }),
      make: (on, title, team) => ctx.issues.create({ team, title, parentId: on }),
      relate: (on, type, other) => ctx.relations.create(on, { type, issueId: other }),
      unrelate: async (on) => { for (const { id } of (await ctx.relations.list(on)).data) await ctx.relations.delete(id); },
      attach: (on, title) => ctx.attachments.create(on, { title, url: 'https://example.com/' }),
      comment: (on, body) => ctx.comments.create(on, { body }),
      react: (on, emoji) => ctx.reactions.createOnIssue(on, { emoji }),
    };
    const made = [];
    const meant = (value) => typeof value === 'number' ? made[value] : value;
    for (const [name, ...args] of JSON.parse(input.calls))
      try {
        const answer = await calls[name](...args.map(meant));
        if (name === 'make') made.push(answer.id);
      } catch (error) { ctx.log.info(error.code ?? String(error)); }
  } } },
}`;

type Ask = (method: string, path: string, body?: unknown) => Promise<Json>;

/**
 * One call of the plugin: operation, issue and arguments. An issue is an id, or the index of one that the run created.
 */
type Call = readonly [name: string, on: string | number, ...args: readonly unknown[]];

function callOf(random: Random, issues: readonly (string | number)[], teams: readonly string[]): Call {
  const on = random.of(issues);
  const other = random.of(issues);
  return random.of<() => Call>([
    () => ['update', on, { priority: random.of(['none', 'low', 'urgent']) }],
    () => ['update', on, { title: `Title ${random.below(9)}`, dueDate: random.of([null, '2027-01-01']) }],
    () => ['update', on, { [random.of(['addLabels', 'removeLabels'])]: [random.of(['bug', 'feature'])] }],
    () => ['update', on, { teamId: random.of(teams) }],
    () => ['part', on, random.of([other, null])],
    () => ['make', on, `Part ${random.below(9)}`, random.of(teams)],
    () => ['relate', on, random.of(['blocks', 'relates_to', 'duplicate_of']), other],
    () => ['unrelate', on],
    () => ['attach', on, `Link ${random.below(9)}`],
    () => ['comment', on, `Words ${random.below(9)}`],
    () => ['react', on, random.of(['👍', '🎉'])],
  ])();
}

/**
 * Runs the plugin twice on two new issues, and undoes and redoes one of the runs.
 * @returns true if something was undone
 */
export async function reworkAtRandom(ask: Ask, random: Random): Promise<boolean> {
  if ((await ask('GET', `${v1}/plugins/${id}`)).state !== 'active') await begin(ask);
  // Other operations require custom fields, and archive and rename teams.
  const { data: fields } = await ask('GET', `${v1}/fields`);
  for (const { id, required } of fields as Json[])
    if (required) await ask('PATCH', `${v1}/fields/${id}`, { required: false });
  const teams: string[] = [];
  for (let count = 0; count < 2; count++)
    teams.push((await ask('POST', `${v1}/teams`, { key: `R${random.below(100_000)}` })).id);
  const [team] = teams;
  const first = await ask('POST', `${v1}/issues`, { team, title: 'Reworked' });
  const second = await ask('POST', `${v1}/issues`, { team, title: 'Reworked too' });
  const issues: (string | number)[] = [first.id, second.id];
  const runs = [];
  for (let round = 0; round < 2; round++) {
    const calls: Call[] = [];
    for (let count = 2 + random.below(5); count > 0; count--) calls.push(callOf(random, issues, teams));
    const body = { input: { calls: JSON.stringify(calls) } };
    runs.push(await ask('POST', `${v1}/plugins/${id}/actions/rework`, body));
  }
  let undone = await ask('POST', `${v1}/runs/${random.of(runs).id}/undo`);
  for (let again = random.below(3); again > 0 && undone.id; again--)
    undone = await ask('POST', `${v1}/undos/${undone.id}/undo`);
  return typeof undone.id === 'string';
}

async function begin(ask: Ask): Promise<void> {
  for (const name of ['bug', 'feature']) await ask('POST', `${v1}/labels`, { name });
  const document = await packSource(definition);
  const grant = Object.keys(document.manifest.scopes ?? {});
  const terms = { grant, probation: false, modes: { delete: 'apply' }, replace: true, downgrade: true };
  await ask('POST', `${v1}/plugins`, { package: document, ...terms });
  await ask('PATCH', `${v1}/plugins/${id}`, { state: 'active' });
}
