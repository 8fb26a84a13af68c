// Checks that people sign in to the app with exactly the access they granted: real server, real app, a person with a
// real browser. Run: `bun examples/oauth-app/check.ts`
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
/** Returns the newest grant. */
const grant = async (): Promise<Grant> => (await api<{ data: Grant[] }>('GET', '/grants')).data[0]!;

try {
  step('An admin registers the app and assigns issues to Ana');
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

  step('Ana creates her account, signs in to the app with Tatami, and withholds a scope');
  await joinBy(person, new URL(new URL(first.setUpUrl).pathname, server.url).href, 'Ana');
  const consent = await person.does({ do: 'go', url: origin }, { do: 'follow', name: 'Sign in with Tatami' });
  check(
    'the consent page names the app and says that an admin registered it',
    consent.text.includes('An admin of this workspace registered this app.'),
    consent.text,
  );
  check('axe finds nothing on that page', consent.violations.length === 0, consent.violations);
  const home = await person.does(
    { do: 'uncheck', label: 'create, change and delete them' },
    { do: 'press', name: 'Allow' },
  );
  check(
    'the app shows her issues, as escaped text',
    home.text.includes('The chart <b>ends</b> a day early'),
    home.text,
  );
  check('the app shows no other issues', !home.text.includes('Assigned to nobody'), home.text);
  check(
    'only the remaining scope is granted',
    (await grant()).scopes.join() === 'issues:read',
    await grant(),
  );
  const refused = await person.does(
    { do: 'fill', label: 'Title', text: 'Mine' },
    { do: 'press', name: 'Create issue' },
  );
  check(
    'the app names the missing permission',
    /This app lacks the permission\. .*issues:write/.test(refused.text),
    refused.text,
  );

  step('She denies access, then allows all scopes');
  const denied = await person.does(
    { do: 'follow', name: 'Sign in with Tatami' },
    { do: 'press', name: 'Deny' },
  );
  check('she is not signed in after denying', denied.text.includes('Sign-in failed: '), denied.text);
  await person.does({ do: 'follow', name: 'Sign in with Tatami' }, { do: 'press', name: 'Allow' });
  const filed = await person.does(
    { do: 'fill', label: 'Title', text: 'Weekends count' },
    { do: 'press', name: 'Create issue' },
  );
  check('the app creates an issue', filed.text.includes('Weekends count'), filed.text);
  const { data: log } = await api<{ data: { action: string; actor: object }[] }>(
    'GET',
    '/audit-log?limit=20',
  );
  const author = log.find(({ action }) => action === 'issue.created')?.actor ?? {};
  check(
    'the audit log names the app and the person it acted for',
    Bun.deepMatch({ kind: 'app', id, name: 'Burndown', memberId: first.userId }, author),
    author,
  );

  step('Other sites send requests from her browser');
  const [cookie, session] = [...sessions].at(-1)!;
  const forged = await fetch(`${origin}/issues`, {
    method: 'POST',
    body: new URLSearchParams({ title: 'Not hers' }),
    headers: { cookie: `app=${cookie}`, origin: 'https://evil.example' },
  });
  check('a form of another site is rejected', forged.status === 403, forged.status);
  const planted = await fetch(`${origin}/callback?code=x&state=y&iss=${server.url}`, { redirect: 'manual' });
  check('a response that this browser did not request is rejected', planted.status === 400, planted.status);

  step('An hour later, eight concurrent requests');
  const before = session.refreshToken;
  const now = Date.now;
  Date.now = () => now() + 3_600_000;
  const tabs = await Promise.all(
    Array.from({ length: 8 }, () => fetch(origin, { headers: { cookie: `app=${cookie}` } })),
  );
  check(
    'all of them succeed',
    tabs.every(({ ok }) => ok),
    tabs.map(({ status }) => status),
  );
  check('the token was refreshed', session.refreshToken !== before);
  Date.now = now;

  step('She revokes the grant in Tatami, signs in again, and signs out');
  await api('DELETE', `/grants/${(await grant()).id}`);
  const over = await person.does({ do: 'go', url: origin });
  check(
    'the app ends the session after the grant is revoked',
    over.text.includes('Your grant for this app was revoked.'),
    over.text,
  );
  await person.does(
    { do: 'follow', name: 'Sign in with Tatami' },
    { do: 'press', name: 'Allow' },
    { do: 'press', name: 'Sign out' },
  );
  check('signing out ends the grant', (await grant()).revokedAt !== null, await grant());
  const { complaints } = await person.does({ do: 'go', url: `${server.url}/account` });
  check(
    'the browser reports no problem with responses of Tatami',
    complaints.every((said) => !said.includes(server.url)),
    complaints,
  );
  await app.stop(true);
} finally {
  await person.leave();
  await server.stop();
  rmSync(dir, { recursive: true, force: true });
}
console.log(process.exitCode ? '\nThe app failed.' : '\nThe app does only what was granted.');
