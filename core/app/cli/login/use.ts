// `tatami use`: the login that commands use from now on.
import { printResult } from '../lib/output.ts';
import { isSameWorkspace, readLogins, writeLogins, type Login } from './credentials.ts';
import { withLogins } from './lock.ts';
import { toLoginSummary } from './login-summary.ts';
import { theLogin } from './which.ts';

export interface UseOptions {
  json?: boolean;
}

/** @param named a workspace or a server; without it, what there is */
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

/** Puts one before the others. */
function choose(named: string): Promise<Login[]> {
  return withLogins(async () => {
    const logins = readLogins();
    const chosen = theLogin(logins, named);
    const ordered = [chosen, ...logins.filter((login) => !isSameWorkspace(login, chosen))];
    await writeLogins(ordered);
    return ordered;
  });
}
