// Selects a login by the name or id of a workspace, or by a server.
import { programName } from '../../../platform/lib/process/own-program.ts';
import { CommandError, exitCodes } from '../lib/output.ts';
import type { Login } from './credentials.ts';

export const where = ({ server, workspace }: Login): string => `${workspace.name} at ${server}`;

/** @param named by default the current one. @throws CommandError where there is none of that name, or several */
export function theLogin(logins: readonly Login[], named?: string): Login {
  const [current] = logins;
  if (!current)
    throw new CommandError(
      `You are not logged in. Log in with \`${programName} login --server URL\`.`,
      exitCodes.loginNeeded,
    );
  if (named === undefined) return current;
  // A workspace may be named like the id of another.
  const byId = logins.filter(({ workspace }) => workspace.id === named);
  const found = byId.length > 0 ? byId : logins.filter((login) => isNamed(login, named));
  const [only, another] = found;
  if (!only)
    throw new CommandError(
      `There is no login for ${named}. Use one of: ${logins.map(where).join('; ')}.`,
      exitCodes.loginNeeded,
    );
  // Among several logins to one server, the most recently used one is selected.
  if (another && found.some(({ server }) => server !== only.server))
    throw new CommandError(
      `${named} matches several logins: ${found.map((login) => `${where(login)} (${login.workspace.id})`).join('; ')}. Use the id of one.`,
      exitCodes.usage,
    );
  return only;
}

function isNamed({ server, workspace }: Login, named: string): boolean {
  const address = named.replace(/\/+$/, '').toLowerCase();
  return (
    workspace.name === named ||
    [server, new URL(server).host].includes(address) ||
    workspace.name.toLowerCase() === named.toLowerCase()
  );
}
