// `tatami plugin routes list|open|rotate|close`: the inbound routes of a plugin.
import type { Call } from '../../../../sdk/client/call.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { CommandError, printResult } from '../lib/output.ts';
import { connect, type RemoteOptions } from '../lib/remote.ts';
import { notFound, saying } from '../lib/lookup.ts';

interface Route {
  readonly name: string;
  readonly method: string;
  readonly auth: 'hmac' | 'public';
  readonly url: string | null;
}

interface Opened extends Route {
  readonly url: string;
  readonly secret: string | null;
}

const pathOf = (plugin: string): string => `/plugins/${encodeURIComponent(plugin)}/routes`;

async function routesOf(call: Call, plugin: string): Promise<Route[]> {
  return (await saying(call, { plugin }, call<{ data: Route[] }>('GET', pathOf(plugin)))).data;
}

export async function listRoutes(plugin: string, options: RemoteOptions): Promise<void> {
  printResult(await routesOf(connect(options), plugin), options, (shown) =>
    shown.length === 0 ? `${plugin} has no routes.` : shown.map(line).join('\n'),
  );
}

function line({ name, method, auth, url }: Route): string {
  return `${name.padEnd(24)} ${method.padEnd(4)} ${auth.padEnd(6)} ${url ?? 'closed'}`;
}

/** One that is open is refused, as asking again would end the secret that its senders have. */
export async function openRoute(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  const { url } = await find(call, plugin, name);
  if (url !== null)
    throw new CommandError(
      `${name} is already open. Replace its secret with \`tatami plugin routes rotate ${plugin} ${name}\`.`,
    );
  await openAt(call, plugin, name, options);
}

export async function rotateRoute(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  await findOpen(call, plugin, name);
  await openAt(call, plugin, name, options);
}

export async function closeRoute(plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const call = connect(options);
  await findOpen(call, plugin, name);
  await call('DELETE', `${pathOf(plugin)}/${encodeURIComponent(name)}`);
  printResult({ plugin, name, url: null }, options, (shown) => `${shown.name} is closed.`);
}

async function openAt(call: Call, plugin: string, name: string, options: RemoteOptions): Promise<void> {
  const opened = await call<Opened>('POST', `${pathOf(plugin)}/${encodeURIComponent(name)}/open`);
  printResult(opened, options, ({ secret, ...route }) =>
    [
      line(route),
      secret === null
        ? 'The route is public: anyone who knows the address can call it.'
        : `Signing secret, shown only once:  ${secret}`,
    ].join('\n'),
  );
}

async function findOpen(call: Call, plugin: string, name: string): Promise<void> {
  const { url } = await find(call, plugin, name);
  if (url === null)
    throw new CommandError(
      `${name} is closed. Open it with \`tatami plugin routes open ${plugin} ${name}\`.`,
    );
}

/** @throws ApiCallError not_found, which says which there are */
async function find(call: Call, plugin: string, name: string): Promise<Route> {
  const all = await routesOf(call, plugin);
  const found = all.find((route) => route.name === name);
  if (found) return found;
  const names = all.map((route) => route.name);
  const there = names.length > 0 ? `Routes: ${names.join(', ')}.` : 'The plugin has no routes.';
  throw notFound(`${plugin} has no route ${name}. ${there}${didYouMean(name, names)}`);
}
