// Shows that people sign in to the app with what they let it do and no more: real server, real app, a person with a real browser.
// Run: `bun examples/oauth-app/check.ts`
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { joinBy, newPerson } from '../../test/browser/person.ts';
import { apiOf, check, step } from '../main-job/checking.ts';
import { startServer, tatami } from '../main-job/server.ts';

const dir = mkdtempSync(join(tmpdir(), 'tatami-oauth-app-'));
const dataDir = join(dir, 'data');
const team = ['--workspace', 'Acme', '--team', 'ENG'];
const first = await tatami<{ apiKey: string; setUpUrl: string; userId: string }>(
  'init',
  '--data-dir',
  dataDir,
  ...team,
);
const server = await startServer(dataDir);
const person = newPerson();
const api = apiOf(server.url, first.apiKey);

interface Grant {
  readonly id: string;
  readonly client: { readonly name: string };
  readonly scopes: readonly string[];
  readonly revokedAt: string | null;
}
/** The newest. */
const grant = async (): Promise<Grant> => (await api<{ data: Grant[] }>('GET', '/grants')).data[0]!;

try {
  step('An admin registers the app, and assigns issues to Ana');
  const { id, secret } = await api<{ id: string; secret: string }>('POST', '/oauth-apps', {
    ...{ name: 'Burndown', confidential: true, redirectUris: ['http://127.0.0.1/callback'] },
  });
  const assignee = { team: 'ENG', assigneeId: 'me' };
  await api('POST', '/issues', { ...assignee, title: 'The chart <b>ends</b> a day early' });
  await api('POST', '/issues', { team: 'ENG', title: 'Assigned to nobody' });

  const free = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
  const PORT = String(free.port);
  await free.stop(true);
  Object.assign(process.env, { TATAMI_SERVER: server.url, CLIENT_ID: id, CLIENT_SECRET: secret, PORT });
  const { app, sessions } = await import('./main.ts');
  const origin = `http://127.0.0.1:${PORT}`;

  step('Ana makes her account, signs in to the app with Tatami, and takes a right away from it');
  await joinBy(person, new URL(new URL(first.setUpUrl).pathname, server.url).href, 'Ana');
  const asked = await person.does({ do: 'go', url: origin }, { do: 'follow', name: 'Sign in with Tatami' });
  check(
    'Tatami names the app, and says that an admin knows it',
    asked.text.includes('An admin of this workspace registered this app.'),
    asked.text,
  );
  check('axe finds nothing on that page', asked.violations.length === 0, asked.violations);
  const home = await person.does(
    { do: 'uncheck', label: 'create, change and delete them' },
    { do: 'press', name: 'Allow' },
  );
  check(
    'it shows what is assigned to her, as text',
    home.text.includes('The chart <b>ends</b> a day early'),
    home.text,
  );
  check('it shows nothing else', !home.text.includes('Assigned to nobody'), home.text);
  check('Tatami granted what she left', (await grant()).scopes.join() === 'issues:read', await grant());
  const refused = await person.does(
    { do: 'fill', label: 'Title', text: 'Mine' },
    { do: 'press', name: 'File it' },
  );
  check(
    'the app says what she did not let it do',
    /You did not let this app do that\. .*issues:write/.test(refused.text),
    refused.text,
  );

  step('She denies it, then allows all of it');
  const denied = await person.does(
    { do: 'follow', name: 'Sign in with Tatami' },
    { do: 'press', name: 'Deny' },
  );
  check('who denies it is not signed in', denied.text.includes('You were not signed in: '), denied.text);
  await person.does({ do: 'follow', name: 'Sign in with Tatami' }, { do: 'press', name: 'Allow' });
  const filed = await person.does(
    { do: 'fill', label: 'Title', text: 'Weekends count' },
    { do: 'press', name: 'File it' },
  );
  check('it files an issue', filed.text.includes('Weekends count'), filed.text);
  const { data: log } = await api<{ data: { action: string; actor: object }[] }>(
    'GET',
    '/audit-log?limit=20',
  );
  const author = log.find(({ action }) => action === 'issue.created')?.actor ?? {};
  check(
    'the audit log names the app, and whom it acted for',
    Bun.deepMatch({ kind: 'app', id, name: 'Burndown', memberId: first.userId }, author),
    author,
  );

  step('Others send her browser to the app');
  const [cookie, session] = [...sessions].at(-1)!;
  const forged = await fetch(`${origin}/issues`, {
    method: 'POST',
    body: new URLSearchParams({ title: 'Not hers' }),
    headers: { cookie: `app=${cookie}`, origin: 'https://evil.example' },
  });
  check('a form of another site is refused', forged.status === 403, forged.status);
  const planted = await fetch(`${origin}/callback?code=x&state=y&iss=${server.url}`, { redirect: 'manual' });
  check('an answer that this browser did not ask for is refused', planted.status === 400, planted.status);

  step('An hour later, eight tabs at once');
  const before = session.refreshToken;
  const now = Date.now;
  Date.now = () => now() + 3_600_000;
  const tabs = await Promise.all(
    Array.from({ length: 8 }, () => fetch(origin, { headers: { cookie: `app=${cookie}` } })),
  );
  check(
    'all of them are answered',
    tabs.every(({ ok }) => ok),
    tabs.map(({ status }) => status),
  );
  check('the token was refreshed', session.refreshToken !== before);
  Date.now = now;

  step('She takes it back in Tatami, signs in once more, and signs out');
  await api('DELETE', `/grants/${(await grant()).id}`);
  const over = await person.does({ do: 'go', url: origin });
  check(
    'the app lets go of who took it back',
    over.text.includes('Tatami no longer lets this app act for you.'),
    over.text,
  );
  await person.does(
    { do: 'follow', name: 'Sign in with Tatami' },
    { do: 'press', name: 'Allow' },
    { do: 'press', name: 'Sign out' },
  );
  check('with the sign-out the grant ends', (await grant()).revokedAt !== null, await grant());
  const { complaints } = await person.does({ do: 'go', url: `${server.url}/account` });
  check(
    'the browser complained of nothing that Tatami sent',
    complaints.every((said) => !said.includes(server.url)),
    complaints,
  );
  await app.stop(true);
} finally {
  await person.leave();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe app failed.' : '\nThe app does what it was let do.');
