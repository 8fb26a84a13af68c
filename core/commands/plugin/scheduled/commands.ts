// The arguments of `tatami plugin scheduled …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addScheduled(plugin: Command, remote: (command: Command) => Command): void {
  const scheduled = plugin.command('scheduled').description('manage the one-time jobs of a plugin');
  const load = () => import('./scheduled.ts');
  remote(scheduled.command('list <plugin>').description('list the pending one-time jobs, next first')).action(
    async (plugin: string, options: RemoteOptions) => (await load()).list(plugin, options),
  );
  remote(scheduled.command('cancel <plugin> <name>').description('cancel a pending one-time job')).action(
    async (plugin: string, name: string, options: RemoteOptions) =>
      (await load()).cancel(plugin, name, options),
  );
}
