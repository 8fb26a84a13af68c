// Renews the tokens of a login. Under the lock the file is read again: another command may have done it already.
import * as client from 'openid-client';
import { programName } from '../../../platform/lib/process/own-program.ts';
import { quoted } from '../../../platform/lib/text/printable.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import { findAuthorizationServer, inWords, isEnded } from './authorization-server.ts';
import { isSameWorkspace, readLogins, writeLogins, type Login, isFresh, tokensOf } from './credentials.ts';
import { withLogins } from './lock.ts';

/** @param old whose access token is refused, or soon will be. @throws CommandError */
export function renewLogin(old: Login): Promise<Login> {
  return withLogins(async () => {
    const logins = readLogins();
    const kept = logins.find((login) => isSameWorkspace(login, old));
    if (!kept) throw ended(old, 'You have logged out of');
    if (kept.accessToken !== old.accessToken && isFresh(kept)) return kept;
    const renewed = await refresh(kept);
    const others = logins.filter((login) => login !== kept);
    if (renewed === null) {
      await writeLogins(others);
      throw ended(old, 'Your login has ended at');
    }
    await writeLogins(logins.map((login) => (login === kept ? renewed : login)));
    return renewed;
  });
}

/** Null where the login has ended. */
async function refresh(login: Login): Promise<Login | null> {
  const { config, resource } = await findAuthorizationServer(login.server);
  try {
    const answer = await client.refreshTokenGrant(config, login.refreshToken, { resource });
    return { ...login, ...tokensOf(answer, login) };
  } catch (error) {
    if (isEnded(error)) return null;
    throw inWords(login.server, error);
  }
}

function ended({ server, workspace }: Login, what: string): CommandError {
  return new CommandError(
    `${what} ${server} (workspace ${workspace.name}). Log in again: \`${programName} login --server ${quoted(server)}\`.`,
    exitCodes.loginNeeded,
  );
}
