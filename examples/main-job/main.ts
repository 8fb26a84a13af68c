// The main workflow with self-checks: imports real issues through the CLI, lets auto-triage learn from their labels,
// creates new issues, and receives every event as a signed webhook. Run: `bun examples/main-job/main.ts [FILE.csv]`
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiOf, check, runsOpen, step, until } from './checking.ts';
import { startReceiver } from './receiver.ts';
import { firstKey, startServer, tatami } from './server.ts';

const here = import.meta.dir;
const file = process.argv[2] ?? join(here, 'sample.csv');
const dataDir = mkdtempSync(join(tmpdir(), 'tatami-main-job-'));

interface Issue {
  id: string;
  identifier: string;
  title: string;
  team: { key: string };
  labels: { name: string }[];
}

const apiKey = await firstKey(dataDir);
const server = await startServer(dataDir);
const receiver = startReceiver();
try {
  const api = apiOf(server.url, apiKey);
  const remote = ['--server', server.url, '--token', apiKey];

  step('create a webhook for all issue events');
  const endpoint = await api<{ secret: string }>('POST', '/webhooks', {
    url: receiver.url,
    events: ['issue.*'],
  });
  receiver.trust(endpoint.secret);

  step(`import ${file}`);
  const first = await tatami<{ created: number; skipped: number; failed: number }>(
    'import',
    file,
    ...remote,
    '--team-from',
    'repo',
  );
  check(`${first.created} issues imported`, first.created > 0 && first.failed === 0, first);
  const second = await tatami<{ created: number; skipped: number }>(
    'import',
    file,
    ...remote,
    '--team-from',
    'repo',
  );
  check('a second import adds nothing', second.created === 0 && second.skipped >= first.created, second);

  step('auto-triage learns from the labels');
  const run = await tatami<{ status: string; progress: { done: number; of: number } }>(
    'plugins',
    'run-schedule',
    'auto-triage',
    'learn',
    ...remote,
  );
  const { done, of } = run.progress;
  check(`${done} of ${of} team models trained`, run.status === 'succeeded' && done === of, run);

  step('new issues are triaged');
  const teams = (await api<{ data: { key: string }[] }>('GET', '/teams')).data.filter(
    (team) => team.key !== 'HQ',
  );
  check(`${teams.length} teams were created`, teams.length > 1, teams);
  const texts: [string, string][] = JSON.parse(readFileSync(join(here, 'new-issues.json'), 'utf8'));
  const filed: string[] = [];
  for (const { key } of teams)
    for (const [title, description] of texts)
      filed.push((await api<{ id: string }>('POST', '/issues', { team: key, title, description })).id);
  const issues = async (): Promise<Issue[]> =>
    Promise.all(filed.map((id) => api<Issue>('GET', `/issues/${id}`)));
  await until('all runs have ended', async () => !(await runsOpen(api, 'auto-triage')));
  const triaged = await issues();
  for (const issue of triaged)
    console.log(
      `     ${issue.identifier.padEnd(14)} ${(issue.labels.map(({ name }) => name).join() || '-').padEnd(9)} ${issue.title}`,
    );
  const labelled = triaged.filter(({ labels }) =>
    labels.some(({ name }) => ['bug', 'feature', 'question'].includes(name)),
  );
  check(
    `${labelled.length} of ${triaged.length} new issues got a kind label`,
    labelled.length * 2 > triaged.length,
  );
  const explained = await api<{ data: { body: string; author: { kind: string } }[] }>(
    'GET',
    `/issues/${labelled[0]?.id}/comments`,
  );
  check(
    'with evidence in a comment',
    explained.data.some(({ author }) => author.kind === 'plugin'),
    explained,
  );
  console.log(explained.data[0]?.body.replace(/^/gm, '     > '));

  step('every event arrived, signed');
  const feed: { id: string; type: string; sequence: number }[] = [];
  for (let after = 0, more = true; more;) {
    const page = await api<{ data: typeof feed; pageInfo: { hasNextPage: boolean } }>(
      'GET',
      `/events?types=issue.*&limit=100&after=${after}`,
    );
    feed.push(...page.data);
    after = page.data.at(-1)?.sequence ?? after;
    more = page.pageInfo.hasNextPage;
  }
  await until('the receiver has all of them', () => feed.every(({ id }) => receiver.events.has(id)));
  check(
    `${receiver.events.size} events received, ${receiver.refused} refused`,
    receiver.events.size === feed.length && receiver.refused === 0,
  );
  const forged = await fetch(receiver.url, {
    method: 'POST',
    body: '{}',
    headers: { 'x-webhook-signature': 'v1=00,t=1' },
  });
  check('a forged delivery is rejected with 401', forged.status === 401, forged.status);
} finally {
  receiver.stop();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe main job failed.' : '\nThe main job is done.');
