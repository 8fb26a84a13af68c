// `tatami login`, `logout`, `use` and `whoami`: their options. Each is a file beside this one, loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../lib/remote.ts';
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
    .description('log in to a server in a browser, so that commands need no API key')
    .option('--server <url>', 'address of the server (TATAMI_SERVER; default: the last one)')
    .option('--device', 'log in with a code, for machines without a browser')
    .option('--scopes <list>', 'limit the login to these scopes, such as issues:read,issues:write')
    .option(...json)
    .action(async (options: LoginOptions) => (await import('./login.ts')).login(options));
  program
    .command('logout [login]')
    .description('end a login, by workspace or server; default: the current one')
    .option('--all', 'end all logins')
    .option(...json)
    .action(async (named: string | undefined, options: LogoutOptions) =>
      (await import('./logout.ts')).logout(named, options),
    );
  program
    .command('use [login]')
    .description(
      'select the login that commands use, by workspace or server; without an argument, list the logins',
    )
    .option(...json)
    .action(async (named: string | undefined, options: UseOptions) =>
      (await import('./use.ts')).use(named, options),
    );
  remote(
    program.command('whoami').description('show the server, workspace and member that commands use'),
  ).action(async (options: RemoteOptions) => (await import('./whoami.ts')).whoami(options));
}
