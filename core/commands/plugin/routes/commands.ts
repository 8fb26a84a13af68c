// The arguments of `tatami plugin routes …`. Each command is loaded when it is asked for.
import type { Command } from 'commander';
import type { RemoteOptions } from '../../remote.ts';

/** @param remote adds where the server is */
export function addRoutes(plugin: Command, remote: (command: Command) => Command): void {
  const routes = plugin.command('routes').description('manage the inbound HTTP routes of a plugin');
  const load = () => import('./inbound.ts');
  remote(
    routes.command('list <plugin>').description('list the routes, with the addresses of open ones'),
  ).action(async (plugin: string, options: RemoteOptions) => (await load()).list(plugin, options));
  remote(
    routes
      .command('open <plugin> <route>')
      .description('open a closed route; prints its address, and once its signing secret'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).open(plugin, route, options),
  );
  remote(
    routes
      .command('rotate <plugin> <route>')
      .description('replace the secret of an open route at once; a public route gets a new address'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).rotate(plugin, route, options),
  );
  remote(
    routes.command('close <plugin> <route>').description('close a route; its address stops working'),
  ).action(async (plugin: string, route: string, options: RemoteOptions) =>
    (await load()).close(plugin, route, options),
  );
}
