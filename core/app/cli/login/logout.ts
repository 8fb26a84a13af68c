// `tatami logout`: ends a login at its server (RFC 7009), and forgets it here.
import * as client from 'openid-client';
import { CommandError, exitCodes, printResult, say } from '../lib/output.ts';
import { findAuthorizationServer, inWords } from './authorization-server.ts';
import { isSameWorkspace, readLogins, writeLogins, type Login } from './credentials.ts';
import { withLogins } from './lock.ts';
import { theLogin, where } from './use.ts';

export interface LogoutOptions {
  all?: boolean;
  json?: boolean;
}

/** @param named a workspace or a server; by default the current login */
export async function logout(named: string | undefined, { all = false, json }: LogoutOptions): Promise<void> {
  const leaving = all ? readLogins() : [theLogin(readLogins(), named)];
  const reasons: string[] = [];
  for (const login of leaving) {
    const reason = await leave(login);
    if (reason !== null) reasons.push(`${where(login)}: ${reason}`);
  }
  const [current] = readLogins();
  if (reasons.length > 0)
    throw new CommandError(
      'The logins were removed here, but not revoked at the server. The tokens stay valid until you revoke the app "Tatami command line" there.',
      exitCodes.tryLater,
      { lines: reasons },
    );
  const ended = leaving.map(({ server, workspace }) => ({ server, workspace }));
  printResult(ended, { json }, () =>
    leaving.length === 0
      ? 'You were not logged in.'
      : leaving.map((login) => `Logged out of ${where(login)}.`).join('\n'),
  );
  if (current && !json) say(`Commands now use ${where(current)}.`);
}

/** Null, or why the server was not told. */
function leave(login: Login): Promise<string | null> {
  return withLogins(async () => {
    const logins = readLogins();
    // Another command may have renewed it, or logged out, since it was looked at.
    const kept = logins.find((other) => isSameWorkspace(other, login));
    if (!kept) return null;
    const reason = await revoke(kept);
    await writeLogins(logins.filter((other) => other !== kept));
    return reason;
  });
}

async function revoke({ server, refreshToken }: Login): Promise<string | null> {
  try {
    const { config } = await findAuthorizationServer(server);
    await client.tokenRevocation(config, refreshToken, { token_type_hint: 'refresh_token' });
    return null;
  } catch (error) {
    return inWords(server, error).message;
  }
}
