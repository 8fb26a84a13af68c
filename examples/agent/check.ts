// Checks that the agent obtains a token by itself, and that it changes other people's issues only after approval:
// real server, real agent, people with real browsers. Run: `bun examples/agent/check.ts`
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { linesOf } from '../../test/browser/lines.ts';
import { joinBy, newPerson } from '../../test/browser/person.ts';
import { apiOf, check, runsOpen, step, until } from '../main-job/checking.ts';
import { startServer, tatami } from '../main-job/server.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-agent-'));
const dataDir = join(dir, 'data');
const team = ['--workspace', 'Acme', '--team', 'ENG'];
const first = await tatami<{ apiKey: string; setUpUrl: string }>('init', '--data-dir', dataDir, ...team);
const server = await startServer(dataDir);
const api = apiOf(server.url, first.apiKey);
const [ana, ben] = [newPerson(), newPerson()];

interface Agent {
  /** Lines of the agent's output so far. */
  readonly said: readonly string[];
  next(): Promise<string>;
  /** Returns the next line, and the URL printed below it. */
  nextPrompt(): Promise<{ what: string; url: string }>;
  readonly ended: Promise<number>;
}
const children: Bun.Subprocess[] = [];

function startAgent(): Agent {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'main.ts'), server.url], {
    stdout: 'pipe',
    stderr: 'inherit',
  });
  children.push(child);
  const lines = linesOf(child.stdout);
  const said: string[] = [];
  const next = async (): Promise<string> => {
    const { value } = await lines.next();
    if (value === undefined) throw new Error(`The agent ended with ${await child.exited}.`);
    said.push(value);
    return value;
  };
  const nextPrompt: Agent['nextPrompt'] = async () => {
    const [what, url] = [await next(), await next()];
    if (!url.startsWith('  http')) throw new Error(`The agent printed no URL: ${what}`);
    return { what, url: url.trim() };
  };
  return { said, next, nextPrompt, ended: child.exited };
}

/** Compares a line of the README with an output line; `…` matches any text. */
function matches(expected: string, said: string): boolean {
  const [begin = '', end] = expected.replace('http://127.0.0.1:4700', server.url).split('…');
  return end === undefined ? said === begin : said.startsWith(begin) && said.endsWith(end);
}

interface Issue {
  readonly id: string;
  readonly priority: string;
  readonly deletedAt: string | null;
}
const issueOf = (id: string): Promise<Issue> => api('GET', `/issues/${id}`);

interface Entry {
  readonly action: string;
  readonly actor: { readonly kind: string; readonly name: string; readonly memberId?: string };
  readonly target: { readonly id: string };
}

try {
  step('Ana creates a workspace with issues and invites Ben');
  const crash = await api<Issue>('POST', '/issues', { team: 'ENG', title: 'The editor crashes on save' });
  const trial = await api<Issue>('POST', '/issues', { team: 'ENG', title: 'test of the import from Berlin' });
  await api('POST', '/issues', { team: 'ENG', title: 'Dark mode' });
  const member = await api<{ id: string }>('POST', '/members', { name: 'Ben', role: 'member' });
  const invitation = await api<{ url: string }>('POST', `/members/${member.id}/invitation`);
  const setUp = new URL(new URL(first.setUpUrl).pathname, server.url).href;
  const [other, agent] = [startAgent(), startAgent()];
  await Promise.all([joinBy(ana, setUp, 'Ana'), joinBy(ben, invitation.url, 'Ben')]);
  await until('the plugin has labeled the issues', async () => !(await runsOpen(api, 'auto-triage')));

  step('Ben starts the agent twice, denies the first and allows the second');
  await ben.does({ do: 'go', url: (await other.nextPrompt()).url }, { do: 'press', name: 'Deny' });
  const denied = await other.next();
  check('the denied agent is told', denied.startsWith('Access denied: '), denied);
  const { said, next, nextPrompt } = agent;
  const { url: consentPage } = await nextPrompt();
  const consent = await ben.does({ do: 'go', url: consentPage });
  check(
    'the consent page says that the agent is not verified',
    consent.text.includes('This app is not verified.'),
    consent.text,
  );
  check(
    'the consent page lists what needs approval',
    consent.text.includes('changes an issue that it did not create'),
    consent.text,
  );
  const listener = new URL(new URL(consentPage).searchParams.get('redirect_uri') ?? '');
  const planted = await fetch(`${listener.href}?code=x&state=y`);
  check('the agent ignores a response that it did not request', planted.status === 404, planted.status);
  const handed = await ben.does({ do: 'press', name: 'Allow' });
  check(
    'the response reaches the agent',
    handed.text.includes('The agent received your response.'),
    handed.text,
  );

  const looked = await next();
  check('it reads the issues', looked === 'Read 3 issues. 2 suggestions.', looked);
  const proposals = [await nextPrompt(), await nextPrompt()];
  const raising = proposals.find(({ what }) => what.includes('urgent'))!;
  const deleting = proposals.find(({ what }) => what.includes('delete'))!;
  check(
    'nothing has changed yet',
    (await issueOf(crash.id)).priority === 'none' && (await issueOf(trial.id)).deletedAt === null,
  );

  step('Ana reviews the proposals, approves one and rejects the other');
  const toRaise = await ana.does({ do: 'go', url: raising.url });
  check(
    'the page names the agent, the person it acts for, and the changes',
    /Ben through Tidy[^]*Priority\tnone\turgent/.test(toRaise.text),
    toRaise.text,
  );
  const raised = await ana.does({ do: 'click', name: 'Approve', shows: 'Approved' });
  check('an approval is applied at once', (await issueOf(crash.id)).priority === 'urgent', raised.text);
  const toDelete = await ana.does({ do: 'go', url: deleting.url });
  await ana.does(
    { do: 'click', name: 'Reject', shows: 'Reason' },
    { do: 'fill', label: 'Reason', text: 'Berlin is real' },
    { do: 'click', name: 'Reject', shows: 'Rejected' },
  );
  check('a rejection changes nothing', (await issueOf(trial.id)).deletedAt === null);
  check(
    'axe finds nothing on these pages',
    [consent, toRaise, raised, toDelete].every(({ violations }) => violations.length === 0),
    [toRaise.violations, raised.violations],
  );

  const outcome = [await next(), await next()].join('\n');
  check('the agent learns of the approval', outcome.includes('make it urgent: approved by Ana'), outcome);
  check(
    'the agent learns of the rejection and its reason',
    outcome.includes('delete it: rejected by Ana, because “Berlin is real”'),
    outcome,
  );
  check('the agent exits with 0', (await agent.ended) === 0);

  const transcript = readFileSync(join(import.meta.dir, 'README.md'), 'utf8');
  const expected =
    /\n\$ bun examples\/agent\/main\.ts\n([^`]+)```/.exec(transcript)?.[1]?.trim().split('\n') ?? [];
  const differs = expected.filter((line) => !said.some((one) => matches(line, one)));
  check('its output matches README.md', expected.length === said.length && differs.length === 0, {
    differs,
    said,
  });

  step('The audit log records all actions');
  const { data: log } = await api<{ data: Entry[] }>('GET', '/audit-log?limit=100');
  const audited = new Set(
    log.map(({ action, actor, target }) => `${action} ${target.id} by ${actor.kind} ${actor.name}`),
  );
  const [raise, remove] = [raising.url, deleting.url].map((url) => url.slice(url.lastIndexOf('/') + 1));
  for (const entry of [
    `automation.proposed ${raise} by app Tidy`,
    `automation.approved ${raise} by user Ana`,
    `issue.updated ${crash.id} by app Tidy`,
    `automation.proposed ${remove} by app Tidy`,
    `automation.rejected ${remove} by user Ana`,
  ])
    check(entry.replace(/ \S+_\S+/, ''), audited.has(entry), [...audited]);
  const byApp = log.filter(({ actor }) => actor.kind === 'app');
  check(
    'all actions of the agent are recorded on behalf of Ben',
    byApp.every(({ actor }) => actor.memberId === member.id),
    byApp,
  );
} finally {
  for (const child of children) child.kill();
  await Promise.all([ana.leave(), ben.leave()]);
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe agent failed.' : '\nThe agent made only approved changes.');
