// `tatami login`: a person allows the command line at a server, for one workspace that they choose there; commands act for them
// from then on.
import * as client from 'openid-client';
import { createCall } from '../../../../sdk/client/call.ts';
import { readRemote } from '../../config/config.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { usage } from '../lib/flags.ts';
import { printResult, say } from '../lib/output.ts';
import { askByCode, askInBrowser } from './ask.ts';
import { firstOf } from '../lib/table.ts';
import { findAuthorizationServer, type AuthorizationServer } from './authorization-server.ts';
import { isSameWorkspace, readLogins, serverName, writeLogins, type Login } from './credentials.ts';
import { withLogins } from './lock.ts';
import { toLoginSummary, type LoginSummary } from './login-summary.ts';
import type { LoginTokens } from './tokens.ts';

export interface LoginOptions {
  server?: string;
  device?: boolean;
  scopes?: string;
  json?: boolean;
}

export async function login({ device = false, scopes, json, ...flags }: LoginOptions): Promise<void> {
  const { server, isExplicit, token } = readRemote(flags);
  // Before anybody is asked for anything: what cannot be kept is not fetched.
  const [current] = readLogins();
  const from = await findAuthorizationServer(serverName(isExplicit ? server : (current?.server ?? server)));
  const asked = scopes === undefined ? from.scopes : scopesOf(scopes, from.scopes);
  const tokens = await (device ? askByCode : askInBrowser)(from, asked);
  const made = await describe(from, tokens);
  await keep(from, made);
  if (token !== null) say('TATAMI_TOKEN is set and takes precedence over this login.');
  printResult(toLoginSummary(made), { json }, linesOf);
}

function linesOf({ server, workspace, member, scopes }: LoginSummary): string {
  return `Logged in to ${server} as ${member.name}, in the workspace ${workspace.name}.\nScopes: ${firstOf(scopes)}`;
}

/** @throws CommandError */
function scopesOf(list: string, supported: readonly string[]): string[] {
  const scopes = list.split(',').map((scope) => scope.trim());
  const unknown = scopes.find((scope) => !supported.includes(scope));
  if (unknown !== undefined)
    throw usage(
      `A login cannot have the scope "${unknown}".${didYouMean(unknown, supported)} Use ${supported.join(', ')}.`,
    );
  return [...new Set(scopes)];
}

async function describe({ server }: AuthorizationServer, tokens: LoginTokens): Promise<Login> {
  const call = createCall({ server, token: tokens.accessToken });
  const { workspace, member } = await call<Pick<Login, 'workspace' | 'member'>>('GET', '/me');
  return {
    server,
    workspace: { id: workspace.id, name: workspace.name },
    member: { id: member.id, name: member.name },
    ...tokens,
  };
}

/** Stores a login as the current one, and revokes the login that it replaces. */
async function keep({ config }: AuthorizationServer, made: Login): Promise<void> {
  const replaced = await withLogins(async () => {
    const logins = readLogins();
    await writeLogins([made, ...logins.filter((login) => !isSameWorkspace(login, made))]);
    return logins.find((login) => isSameWorkspace(login, made));
  });
  // If the revocation fails, the grant expires after a period without use.
  if (replaced) await client.tokenRevocation(config, replaced.refreshToken).catch(() => undefined);
}
