// Time machine with self-checks: labels by hand, backtests a plugin on that history, approves its proposals, gates an
// upgrade, undoes a bad version, reads the trail and replays a run. Run: `bun examples/time-machine/main.ts
// [FILE.csv]`
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiOf, check, runsOpen, step, until } from '../main-job/checking.ts';
import { firstKey, startServer, tatami, tried } from '../main-job/server.ts';
import { withoutLabels } from './history.ts';
import type { Installed, Issue, Proposal, Run, TrailRoot, Undo } from './shapes.ts';

const here = import.meta.dir;
const file = process.argv[2] ?? join(here, '../main-job/sample.csv');
const dir = mkdtempSync(join(tmpdir(), 'tatami-time-machine-'));
const dataDir = join(dir, 'data');
const labelNames = ['bug', 'feature', 'question'];

const labelsOf = ({ labels }: Issue): string =>
  labels
    .map(({ name }) => name)
    .sort()
    .join();
const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

const apiKey = await firstKey(dataDir);
const server = await startServer(dataDir);
const remote = ['--server', server.url, '--token', apiKey];
const cli = <T>(...args: string[]): Promise<T> => tatami<T>(...args, ...remote);
const api = apiOf(server.url, apiKey);

async function all<T>(path: string): Promise<T[]> {
  const items: T[] = [];
  for (let after = ''; ;) {
    const page = await api<{ data: T[]; pageInfo: { hasNextPage: boolean; endCursor: string } }>(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=100${after}`,
    );
    items.push(...page.data);
    if (!page.pageInfo.hasNextPage) return items;
    after = `&after=${page.pageInfo.endCursor}`;
  }
}

const fileIssues = (titles: readonly (readonly [string, string])[]): Promise<Issue[]> =>
  Promise.all(
    titles.map(([title, description]) => api<Issue>('POST', '/issues', { team: 'HQ', title, description })),
  );
const read = (issues: readonly Issue[]): Promise<Issue[]> =>
  Promise.all(issues.map(({ id }) => api<Issue>('GET', `/issues/${id}`)));
const ended = (plugin: string): Promise<void> =>
  until(`the runs of ${plugin} have ended`, async () => !(await runsOpen(api, plugin)));
async function pack(version: string): Promise<string> {
  const out = join(dir, `${version}.tatami.json`);
  await tatami('plugins', 'pack', join(here, version), '--out', out);
  return out;
}

try {
  step(`1 import ${file} without its labels`);
  // A new workspace has auto-triage installed; here it is installed later.
  await api('DELETE', '/plugins/auto-triage');
  const { unlabelled, truth } = withoutLabels(file, dir);
  const imported = await cli<{ created: number; failed: number }>(
    'import',
    unlabelled,
    '--team-from',
    'repo',
  );
  check(
    `${imported.created} issues imported`,
    imported.created === truth.size && imported.failed === 0,
    imported,
  );
  const issues = await all<Issue>('/issues');
  check(
    'none of them has a label',
    issues.length === truth.size && issues.every((one) => labelsOf(one) === ''),
  );

  step('2 label half of them by hand');
  const known = issues.filter(({ title }) => labelNames.includes(truth.get(title) ?? ''));
  const byHand = known.filter((_, at) => at % 2 === 0);
  const [first, ...others] = byHand;
  // One label differs from the file, so that people and the plugin disagree whatever the file contains.
  const seen = labelNames.find((kind) => kind !== truth.get(first!.title))!;
  truth.set(first!.title, seen);
  await api('PATCH', `/issues/${first!.id}`, { addLabels: [seen] });
  for (const name of labelNames) {
    const ids = others.filter(({ title }) => truth.get(title) === name).map(({ id }) => id);
    if (ids.length > 0) await api('POST', '/issues/bulk-update', { ids, set: { addLabels: [name] } });
  }
  const labelled = (await all<Issue>('/issues')).filter((one) => labelsOf(one) !== '');
  check(
    `${labelled.length} issues are labelled`,
    labelled.length === byHand.length && labelled.every((one) => labelsOf(one) === truth.get(one.title)),
  );

  step('3 backtest auto-triage on that history');
  const settings = join(dir, 'settings.json');
  writeFileSync(settings, JSON.stringify({ threshold: 0, suggest: false, rule: true }));
  const { report } = await cli<{
    report: {
      runs: { succeeded: number; failed: number };
      fields: {
        field: string;
        wouldChange: number;
        same: number;
        opposite: number;
        nothing: number;
        agreement: number;
      }[];
      effects: { issueId: string; people: string; wouldBe: { name: string }[] }[];
      others: { what: string; count: number }[];
    };
  }>('plugins', 'backtest', join(here, '../../plugins/auto-triage'), '--since', '1d', '--settings', settings);
  const totals = report.fields.find(({ field }) => field === 'labels');
  check(
    `${report.runs.succeeded} runs, none failed`,
    report.runs.succeeded === issues.length && report.runs.failed === 0,
    report.runs,
  );
  check(
    `people did the same ${totals?.same} times, the opposite ${totals?.opposite} times: all ${byHand.length} that were labelled`,
    totals !== undefined &&
      totals.same > 0 &&
      totals.opposite > 0 &&
      totals.same + totals.opposite === byHand.length,
    report.fields,
  );
  check(
    `and nothing ${totals?.nothing} times: all others`,
    totals?.nothing === issues.length - byHand.length && totals.wouldChange === issues.length,
    totals,
  );
  const titleOf = new Map(issues.map(({ id, title }) => [id, title]));
  const handIds = new Set(byHand.map(({ id }) => id));
  const wrong = report.effects.filter(({ issueId, people, wouldBe }) => {
    const isSame = wouldBe.some(({ name }) => name === truth.get(titleOf.get(issueId) ?? ''));
    return people !== (handIds.has(issueId) ? (isSame ? 'same' : 'opposite') : 'nothing');
  });
  check(
    `each of ${report.effects.length} effects is compared with the manual label`,
    wrong.length === 0,
    wrong,
  );
  console.log(`     agreement ${totals?.agreement} %`);
  check(
    'nothing was written',
    same(
      (await read(issues.slice(1, 2))).map(labelsOf),
      issues.slice(1, 2).map((one) => (handIds.has(one.id) ? truth.get(one.title) : '')),
    ),
  );

  step('4 install it in propose mode and decide its proposals');
  await cli('plugins', 'install', 'auto-triage', '--yes', '--mode', 'propose', '--settings', settings);
  const trained = await cli<Run>('plugins', 'run-schedule', 'auto-triage', 'learn');
  check('it learns from the manual labels', trained.status === 'succeeded', trained);
  const texts = JSON.parse(readFileSync(join(here, '../main-job/new-issues.json'), 'utf8')) as [
    string,
    string,
  ][];
  const proposedOn = await fileIssues([...texts, ...texts]);
  await ended('auto-triage');
  const open = await cli<Proposal[]>('proposals', 'list', '--status', 'open');
  const proposalOf = (issue: Issue): Proposal => {
    const items = open.find(({ effects }) => effects.some((effect) => effect.issue === issue.identifier));
    if (!items) throw new Error(`There is no proposal for ${issue.identifier}.`);
    return items;
  };
  check(
    `${open.length} proposals are open, and no issue is labelled`,
    open.length === proposedOn.length && (await read(proposedOn)).every((one) => labelsOf(one) === ''),
    open,
  );
  const [wholeA, wholeB, inPart, ...refused] = proposedOn as [Issue, Issue, Issue, ...Issue[]];
  await Promise.all([wholeA, wholeB].map((issue) => cli('proposals', 'approve', proposalOf(issue).id)));
  const part = proposalOf(inPart)
    .effects.filter((effect) => effect.kind === 'issue')
    .map(({ id }) => id);
  await cli('proposals', 'approve', proposalOf(inPart).id, '--effects', part.join());
  await Promise.all(
    refused.map((issue) =>
      cli('proposals', 'reject', proposalOf(issue).id, '--reason', 'A person looks at these.'),
    ),
  );
  const commentsOn = async (issue: Issue): Promise<number> =>
    (await all<unknown>(`/issues/${issue.id}/comments`)).length;
  const now = await read(proposedOn);
  check(
    'two approved in full have label and comment',
    now.slice(0, 2).every((one) => labelNames.includes(labelsOf(one))) &&
      (await commentsOn(wholeA)) === 1 &&
      (await commentsOn(wholeB)) === 1,
    now,
  );
  check(
    'one approved in part has only the label',
    labelNames.includes(labelsOf(now[2]!)) && (await commentsOn(inPart)) === 0,
    now[2],
  );
  check(
    'the rejected ones are unchanged',
    now.slice(3).every((one) => labelsOf(one) === ''),
    now.slice(3),
  );
  const decided = await cli<Proposal[]>('proposals', 'list');
  const counted = (values: readonly string[]): Record<string, number> =>
    Object.fromEntries(
      [...new Set(values)].sort().map((value) => [value, values.filter((one) => one === value).length]),
    );
  check(
    'each proposal has its decision and reason',
    same(counted(decided.map(({ status }) => status)), { approved: 2, partly_approved: 1, rejected: 3 }) &&
      decided.every(({ status, reason }) => status !== 'rejected' || reason === 'A person looks at these.'),
    decided,
  );
  const automation = await api<{ data: { type: string }[] }>('GET', '/events?types=automation.*&limit=100');
  const types = counted(automation.data.map(({ type }) => type));
  check(
    'the feed contains automation.proposed, approved and rejected',
    types['automation.proposed'] === 6 &&
      types['automation.approved'] === 3 &&
      types['automation.rejected'] === 3,
    types,
  );
  await api('DELETE', '/plugins/auto-triage');

  step('5 gate an upgrade that requests more scopes');
  const [v1, wider, bad] = (await Promise.all(['first', 'wider', 'bad'].map(pack))) as [
    string,
    string,
    string,
  ];
  await cli('plugins', 'install', v1, '--yes', '--no-probation');
  const plugin = '/plugins/kind-by-title';
  const installed = (): Promise<Installed> => api<Installed>('GET', plugin);
  const byTitle = await fileIssues([
    ['Crash on save', ''],
    ['Scrolling is slow', ''],
    ['How do I export?', ''],
  ]);
  await ended('kind-by-title');
  check('1.0.0 labels', same((await read(byTitle)).map(labelsOf), ['bug', 'feature', 'question']));
  const looked = await tried('plugins', 'install', wider, '--gate', '10', ...remote);
  console.log(looked.err.trimEnd().replace(/^/gm, '     > '));
  check(
    'the gate shows that 1.1.0 behaves differently; without consent 1.0.0 stays',
    looked.code !== 0 &&
      looked.err.includes('on the last 3 runs') &&
      looked.err.includes('bug') &&
      (await installed()).pluginVersion === '1.0.0',
    looked,
  );
  const waiting = await api<Installed>('POST', '/plugins', {
    package: JSON.parse(readFileSync(wider, 'utf8')),
    grant: ['issues:write'],
  });
  check(
    '1.1.0 waits for consent, 1.0.0 keeps running',
    waiting.pluginVersion === '1.0.0' &&
      waiting.pending?.version === '1.1.0' &&
      waiting.pending.adds.length > 0,
    waiting,
  );
  await cli('plugins', 'consent', 'kind-by-title', '--yes');
  const [slow] = await fileIssues([['Search is slow', '']]);
  await ended('kind-by-title');
  check(
    'with consent 1.1.0 runs, and comments',
    labelsOf((await read([slow!]))[0]!) === 'bug' && (await commentsOn(slow!)) === 1,
  );
  await cli('plugins', 'rollback', 'kind-by-title');
  const rolled = await fileIssues([['Typing is slow', '']]);
  await ended('kind-by-title');
  check(
    'after the rollback 1.0.0 runs again',
    (await installed()).pluginVersion === '1.0.0' &&
      labelsOf((await read(rolled))[0]!) === 'feature' &&
      (await commentsOn(rolled[0]!)) === 0,
  );

  step('6 undo a bad version');
  await cli('plugins', 'install', bad, '--yes');
  const since = new Date().toISOString();
  const harmed = await fileIssues(
    ['Crash at start', 'Add a dark theme', 'Fails on Windows', 'Where is the log?'].map(
      (title) => [title, ''] as const,
    ),
  );
  await ended('kind-by-title');
  const state = async (): Promise<string[]> =>
    (await read(harmed)).map((one) => `${labelsOf(one)} ${one.priority}`);
  check(
    '2.0.0 labels everything as an urgent question',
    (await state()).every((one) => one === 'question urgent'),
    await state(),
  );
  // A person has edited the first issue: its label is corrected, its priority lowered.
  await api('PATCH', `/issues/${harmed[0]!.id}`, { labels: ['bug'], priority: 'low' });
  const before = await state();
  const simulated = await api<Undo>('POST', `${plugin}/undo`, { since }, { 'tatami-mode': 'simulate' });
  check('a simulated undo writes nothing', same(await state(), before), await state());
  const undone = await api<Undo>('POST', `${plugin}/undo`, { since });
  console.log(`     > ${undone.message}`);
  check(
    'the undo does what was simulated',
    same(undone.changes, simulated.changes) &&
      same(undone.skipped, simulated.skipped) &&
      undone.undid.length === 4,
    { simulated, undone },
  );
  const after = ['bug low', ' none', ' none', ' none'];
  check('labels and priorities are restored', same(await state(), after), await state());
  check(
    'fields that a person changed since are skipped and listed',
    undone.skipped.some(
      ({ id, field, reason, ranSet, now: is }) =>
        id === harmed[0]!.id &&
        field === 'priority' &&
        reason === 'changed' &&
        ranSet === 'urgent' &&
        is === 'low',
    ),
    undone.skipped,
  );
  const redone = await api<Undo>('POST', `/undos/${undone.id}/undo`);
  check('undoing the undo restores the changes of the runs', same(await state(), before), await state());
  const again = await api<Undo>('POST', `/undos/${redone.id}/undo`);
  check(
    'undoing it again restores the issues',
    again.id !== null && same(await state(), after),
    await state(),
  );

  step('7 read the trail of an issue');
  const trailOf = async (issue: Issue) =>
    (await cli<TrailRoot[]>('issues', 'trail', issue.identifier)).flatMap((root) => root.nodes);
  const nodes = await trailOf(harmed[1]!);
  const created = nodes.find(({ type }) => type === 'issue.created');
  const badRun = nodes.find(({ kind }) => kind === 'run');
  check('it starts with the root event', created?.parentId === null, nodes);
  check(
    'it contains the run',
    badRun?.parentId === created?.id && undone.undid.includes(badRun?.id ?? ''),
    nodes,
  );
  const under = (candidates: typeof nodes, parentId: string | null | undefined, isUndo = false): boolean =>
    candidates.some(
      (node) => node.type === 'issue.updated' && node.isUndo === isUndo && node.parentId === parentId,
    );
  check('it contains the writes of the run', under(nodes, badRun?.id), nodes);
  const undo = nodes.find(({ id }) => id === undone.id);
  check(
    'it contains the undo and its writes',
    undo?.kind === 'undo' && badRun?.run?.undoneBy === undone.id && under(nodes, undo.id, true),
    nodes,
  );
  const approved = await trailOf(wholeA);
  const { id: proposalId, runId } = proposalOf(wholeA);
  const proposal = approved.find(({ id }) => id === proposalId);
  check(
    'for an approved proposal it contains the run, the proposal and the writes of the approval',
    proposal?.kind === 'proposal' && proposal.parentId === runId && under(approved, proposalId),
    approved,
  );

  step('8 replay a run');
  const good = (await trailOf(byTitle[0]!)).find(({ kind }) => kind === 'run');
  const replayed = await cli<{ result: string }>('runs', 'replay', good!.id);
  check('with the same code the replay is identical', replayed.result === 'identical', replayed);
  const other = await tried('runs', 'replay', good!.id, '--local', join(here, 'bad'), ...remote);
  const { result, divergence } = JSON.parse(other.out) as {
    result: string;
    divergence: { op: string; field: string } | null;
  };
  console.log(`     > ${JSON.stringify(divergence)}`);
  check(
    'with changed code the replay diverges at issues.update',
    other.code === 1 && result === 'diverged' && divergence?.op === 'issues.update',
    other,
  );
} finally {
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe time machine failed.' : '\nThe time machine is done.');
