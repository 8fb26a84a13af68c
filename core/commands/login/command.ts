// `tatami login`, `logout`, `use` and `whoami`: their options. Each is a file beside this one, loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../remote.ts';
import type { LoginOptions } from './login.ts';
import type { LogoutOptions } from './logout.ts';
import type { UseOptions } from './use.ts';

/** @param remote gives a command the options of those that talk to a server */
export function addLogin(
  program: Command,
  remote: (command: Command) => Command,
  json: [string, string],
): void {
  program
    .command('login')
    .description('log in to a server, in a browser; commands then need no key')
    .option('--server <url>', 'address of the server (TATAMI_SERVER; by default the last one)')
    .option('--device', 'by a code, for machines without a browser')
    .option('--scopes <list>', 'no more than these, such as issues:read,issues:write')
    .option(...json)
    .action(async (options: LoginOptions) => (await import('./login.ts')).login(options));
  program
    .command('logout [login]')
    .description('end a login, named by its workspace or server; by default the current one')
    .option('--all', 'all of them')
    .option(...json)
    .action(async (named: string | undefined, options: LogoutOptions) =>
      (await import('./logout.ts')).logout(named, options),
    );
  program
    .command('use [login]')
    .description('choose the login that commands use, by its workspace or server; without one, list them')
    .option(...json)
    .action(async (named: string | undefined, options: UseOptions) =>
      (await import('./use.ts')).use(named, options),
    );
  remote(program.command('whoami').description('show for whom commands act, and where')).action(
    async (options: RemoteOptions) => (await import('./whoami.ts')).whoami(options),
  );
}
