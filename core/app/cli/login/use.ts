// `tatami use`: selects the login that commands use.
import { printResult, CommandError, exitCodes } from '../lib/output.ts';
import { isSameWorkspace, readLogins, writeLogins, type Login } from './credentials.ts';
import { withLogins } from './lock.ts';
import { programName } from '../../../platform/lib/process/own-program.ts';

export interface UseOptions {
  json?: boolean;
}

/** @param named a workspace or a server; without it, the logins are listed */
export async function use(named: string | undefined, options: UseOptions): Promise<void> {
  const logins = named === undefined ? readLogins() : await choose(named);
  const shown = logins.map((login, at) => ({ ...toLoginSummary(login), isCurrent: at === 0 }));
  printResult(shown, options, (all) =>
    all.length === 0
      ? 'You are not logged in. Log in with `tatami login --server URL`.'
      : all
          .map(
            ({ server, workspace, member, isCurrent }) =>
              `${isCurrent ? '*' : ' '} ${workspace.name} at ${server}, as ${member.name}`,
          )
          .join('\n'),
  );
}

/** Moves the login to the front, where commands find it. */
function choose(named: string): Promise<Login[]> {
  return withLogins(async () => {
    const logins = readLogins();
    const chosen = theLogin(logins, named);
    const ordered = [chosen, ...logins.filter((login) => !isSameWorkspace(login, chosen))];
    await writeLogins(ordered);
    return ordered;
  });
}

export const where = ({ server, workspace }: Login): string => `${workspace.name} at ${server}`;

/** @param named a workspace or a server; by default the current login. @throws CommandError if no login or several match */
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

/** Returns a login without its tokens. */
export function toLoginSummary({ server, workspace, member, scopes }: Login) {
  return { server, workspace, member, scopes };
}
