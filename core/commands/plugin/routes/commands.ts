// The arguments of `tatami plugin routes …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addRoutes(plugin: Command, remote: (command: Command) => Command): void {
  const routes = plugin.command('routes').description('addresses at which others send to a plugin');
  const load = () => import('./inbound.ts');
  remote(routes.command('list <plugin>').description('list its routes, and where the open ones are')).action(
    async (plugin: string, options: RemoteOptions) => (await load()).list(plugin, options),
  );
  remote(
    routes
      .command('open <plugin> <route>')
      .description('open a closed route; prints its address, and once the secret that senders sign with'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).open(plugin, route, options),
  );
  remote(
    routes
      .command('rotate <plugin> <route>')
      .description('give an open route another secret at once; a public one gets another address'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).rotate(plugin, route, options),
  );
  remote(routes.command('close <plugin> <route>').description('close a route; its address is gone')).action(
    async (plugin: string, route: string, options: RemoteOptions) =>
      (await load()).close(plugin, route, options),
  );
}
