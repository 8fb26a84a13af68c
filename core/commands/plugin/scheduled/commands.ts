// The arguments of `tatami plugin scheduled …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addScheduled(plugin: Command, remote: (command: Command) => Command): void {
  const scheduled = plugin.command('scheduled').description('one-off runs that a plugin has asked for');
  const load = () => import('./scheduled.ts');
  remote(scheduled.command('list <plugin>').description('list those that wait, the next one first')).action(
    async (plugin: string, options: RemoteOptions) => (await load()).list(plugin, options),
  );
  remote(scheduled.command('cancel <plugin> <name>').description('cancel one, so that it never runs')).action(
    async (plugin: string, name: string, options: RemoteOptions) =>
      (await load()).cancel(plugin, name, options),
  );
}
