// OAuth apps and grants.
import { makeGrant } from '../../features/oauth/grant.ts';
import type { Setting } from './all.ts';

export async function oauthOperations({ app, did }: Setting): Promise<void> {
  const v1 = '/api/v1';
  const { id } = await did('oauth-apps.create', `${v1}/oauth-apps`, {
    name: 'Acme Reports',
    description: 'Weekly reports of completed work.',
    homepage: 'https://acme.example/reports',
    redirectUris: ['https://reports.acme.example/callback'],
    confidential: true,
  });
  const one = `${v1}/oauth-apps/${id}`;
  await did('oauth-apps.rotate-secret', `${one}/rotate-secret`, { graceHours: 24 });
  await did('oauth-apps.update', one, { description: 'Reports of each week.' });
  await did('oauth-apps.get', one);
  await did('oauth-apps.list', `${v1}/oauth-apps`);
  const { userId: memberId } = app.workspace;
  const client = { id, name: 'Acme Reports', kind: 'app', verified: true } as const;
  const granted = await makeGrant(app, {
    ...{ memberId, client, redirectHost: 'reports.acme.example' },
    scopes: ['issues:write', 'comments:read'],
  });
  const grant = `${v1}/grants/${granted}`;
  await did('grants.update', grant, { scopes: ['issues:read', 'comments:read'] });
  await did('grants.get', grant);
  await did('grants.list', `${v1}/grants`);
  await did('grants.delete', grant);
  await did('oauth-apps.delete', one);
}
