// The arguments of `tatami plugin secrets …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addSecrets(plugin: Command, remote: (command: Command) => Command): void {
  const secrets = plugin.command('secrets').description('what plugins send as keys, and never see');
  remote(
    secrets
      .command('set <plugin> <name>')
      .description('set a secret; its value is read from standard input, or asked for'),
  ).action(async (name: string, secret: string, options: RemoteOptions) =>
    (await import('./set.ts')).set(name, secret, options),
  );
  remote(
    secrets
      .command('list <plugin>')
      .description('list what it needs, where that is sent, and since when it is set'),
  ).action(async (name: string, options: RemoteOptions) => (await import('./list.ts')).list(name, options));
  remote(secrets.command('delete <plugin> <name>').description('delete a secret')).action(
    async (name: string, secret: string, options: RemoteOptions) =>
      (await import('./delete.ts')).deleteSecret(name, secret, options),
  );
}
