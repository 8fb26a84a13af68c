// `tatami apps list|create|rotate-secret|delete` and `tatami grants list|revoke`: OAuth apps, and what members have authorized.
import type { Call } from '../../../sdk/client/call.ts';
import { theOne, sayingOf } from './lib/lookup.ts';
import { wholeNumber } from './lib/flags.ts';
import { printResult } from './lib/output.ts';
import { connect, readAll, type RemoteOptions } from './lib/remote.ts';
import { minuteOf, tableOf, firstOf } from './lib/table.ts';

interface App {
  id: string;
  name: string;
  redirectUris: string[];
  confidential: boolean;
  createdAt: string;
}

export interface CreateAppOptions extends RemoteOptions {
  name: string;
  redirectUri: string[];
  confidential?: boolean;
  description?: string;
  homepage?: string;
}

const pathOf = ({ id }: App): string => `/oauth-apps/${encodeURIComponent(id)}`;
const find = async (call: Call, given: string): Promise<App> =>
  theOne('app', given, await readAll<App>(call, '/oauth-apps'), ({ name }) => [name]);

export async function listApps(options: RemoteOptions): Promise<void> {
  printResult(await readAll<App>(connect(options), '/oauth-apps'), options, (apps) =>
    apps.length === 0
      ? 'No apps are registered. Register one with `tatami apps create`.'
      : tableOf([['ID', 'NAME', 'CONFIDENTIAL', 'CREATED', 'REDIRECTS TO'], ...apps.map(appRow)]).join('\n'),
  );
}

function appRow({ id, name, confidential, createdAt, redirectUris }: App): string[] {
  return [id, name, confidential ? 'yes' : 'no', minuteOf(createdAt), redirectUris.join(' ')];
}

export async function createApp(options: CreateAppOptions): Promise<void> {
  const { name, redirectUri: redirectUris, confidential = false, description, homepage } = options;
  const made = await connect(options)<App & { secret: string | null }>('POST', '/oauth-apps', {
    name,
    redirectUris,
    confidential,
    ...(description === undefined ? {} : { description }),
    ...(homepage === undefined ? {} : { homepage }),
  });
  printResult(made, options, ({ id, name: called, secret }) =>
    [
      `client id  ${id}`,
      `name       ${called}`,
      secret === null
        ? 'secret     none: the app is a public client and uses PKCE'
        : `secret     ${secret}   (shown only once)`,
    ].join('\n'),
  );
}

export interface RotateAppSecretOptions extends RemoteOptions {
  graceHours?: string;
}

export async function rotateSecret(given: string, options: RotateAppSecretOptions): Promise<void> {
  const { graceHours } = options;
  const call = connect(options);
  const body =
    graceHours === undefined ? {} : { graceHours: wholeNumber('--grace-hours', graceHours, 0, 168) };
  const path = `${pathOf(await find(call, given))}/rotate-secret`;
  const rotated = await call<{ id: string; secret: string; previousSecretExpiresAt: string }>(
    'POST',
    path,
    body,
  );
  printResult(rotated, options, ({ secret, previousSecretExpiresAt: until }) =>
    [
      `secret     ${secret}   (shown only once)`,
      `previous   ${Number(graceHours) === 0 ? 'earlier secrets are no longer valid' : `earlier secrets are valid until ${until}`}`,
    ].join('\n'),
  );
}

export async function deleteApp(given: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const found = await find(call, given);
  await call('DELETE', pathOf(found));
  printResult(
    { deleted: true, ...found },
    options,
    ({ id, name }) => `${name} (${id}) is deleted, and its grants are revoked`,
  );
}

interface Grant {
  id: string;
  member: { id: string; name: string };
  client: { id: string; name: string; verified: boolean };
  resource: string;
  scopes: string[];
  lastUsedAt: string | null;
  revokedAt: string | null;
}

export interface ListGrantsOptions extends RemoteOptions {
  all?: boolean;
}

export async function listGrants(options: ListGrantsOptions): Promise<void> {
  const grants = await readAll<Grant>(connect(options), '/grants');
  const chosen = options.all ? grants : grants.filter(({ revokedAt }) => revokedAt === null);
  printResult(chosen, options, (shown) =>
    shown.length === 0
      ? 'No apps are authorized.'
      : tableOf([['ID', 'APP', 'FOR', 'BY', 'SCOPES', 'LAST USED', 'REVOKED'], ...shown.map(grantRow)]).join(
          '\n',
        ),
  );
}

function grantRow({ id, client, member, resource, scopes, lastUsedAt, revokedAt }: Grant): string[] {
  return [
    id,
    `${client.name}${client.verified ? '' : ' (unverified)'}`,
    member.name,
    resource,
    firstOf(scopes),
    lastUsedAt === null ? 'never' : minuteOf(lastUsedAt),
    revokedAt === null ? '-' : minuteOf(revokedAt),
  ];
}

export async function revokeGrant(id: string, options: RemoteOptions): Promise<void> {
  await sayingOf('grant', id, connect(options)('DELETE', `/grants/${encodeURIComponent(id)}`));
  printResult({ id, revoked: true }, options, (shown) => `${shown.id} is revoked; its tokens no longer work`);
}
