// The arguments of `tatami plugin secrets …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addSecrets(plugin: Command, remote: (command: Command) => Command): void {
  const secrets = plugin
    .command('secrets')
    .description('manage the secrets that the server adds to requests of plugins');
  remote(
    secrets
      .command('set <plugin> <name>')
      .description('set a secret; the value is read from standard input or a prompt'),
  ).action(async (name: string, secret: string, options: RemoteOptions) =>
    (await import('./set.ts')).set(name, secret, options),
  );
  remote(
    secrets
      .command('list <plugin>')
      .description('list the secrets that a plugin needs, where they are sent, and when they were set'),
  ).action(async (name: string, options: RemoteOptions) => (await import('./list.ts')).list(name, options));
  remote(secrets.command('delete <plugin> <name>').description('delete a secret')).action(
    async (name: string, secret: string, options: RemoteOptions) =>
      (await import('./delete.ts')).deleteSecret(name, secret, options),
  );
}
