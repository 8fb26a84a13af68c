// Actions outside of the tracker: requests to hosts that an administrator allowed, and actions of other plugins.
import { InvalidInput, type FetchResponse } from '@tatami/sdk/plugin';
import { inputOf, textOf, type Step } from './actions.ts';
import type { Ctx, Host, RuleIssue } from './rule.ts';
import { callOf, type RuleRun } from './run.ts';
import { renderAll, renderPath } from './template.ts';

export async function send(run: RuleRun, step: Step<'http'>): Promise<void> {
  const { action, target, label } = step;
  const host = run.ctx.settings.hosts[action.host];
  if (!host) throw new InvalidInput(`The host "${action.host}" is unknown. Ask an administrator to add it.`);
  const path = requirePath(renderPath(action.path, target.scope, `${label}, path`), action.host, host);
  // The body is sent as it is, so references in it are complete objects.
  const body = renderAll(action.body, target.scope, `${label}, body`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(action.headers ?? {}))
    headers[name.toLowerCase()] = requireHeader(name, textOf(step, value, `headers.${name}`));
  if (body !== undefined)
    headers['content-type'] ??= typeof body === 'string' ? 'text/plain' : 'application/json';
  Object.assign(headers, secretOf(run.ctx, action.host, host));
  run.fetches++;
  const { method = body === undefined ? 'GET' : 'POST' } = action;
  const init = { method, headers };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await callOf(run).fetch(
    host.origin + path,
    body === undefined ? init : { ...init, body: text },
  );
  requireOk(response, `${method} ${host.origin}${path}`);
}

/** Sequences that servers may decode again. The server refuses them below the path of a host. */
const readTwoWays = /%(?:25)*(?:2f|5c|00)|\/\/|;/i;

/** Returns the path if the host permits it. @throws InvalidInput */
function requirePath(path: unknown, name: string, host: Host): string {
  if (typeof path !== 'string' || !path.startsWith('/'))
    throw new InvalidInput('The path must start with a slash, such as /v1/events.');
  const [pathname = path] = path.split(/[?#]/, 1);
  if (hasDotSegment(pathname))
    throw new InvalidInput(
      `The path ${path} has a dot segment. Remove it, or use a value without dots and slashes.`,
    );
  if (host.path && host.path !== '/' && readTwoWays.test(pathname))
    throw new InvalidInput(
      `The path ${path} has an encoded slash, a double slash or a semicolon, so it may lead out of the path ${host.path} of the host "${name}". Use a value without slashes.`,
    );
  const isWithin =
    !host.path || (host.path.endsWith('/') ? pathname.startsWith(host.path) : pathname === host.path);
  if (!isWithin)
    throw new InvalidInput(
      `The path ${path} is outside of the path ${host.path} of the host "${name}". Use a path within it.`,
    );
  return path;
}

/** Tests the encoded forms also, because servers may decode a path, even twice. */
function hasDotSegment(pathname: string): boolean {
  const decoded = pathname
    .replace(/%(?:25)*2e/gi, '.')
    .replace(/%(?:25)*(?:2f|5c)/gi, '/')
    .replace(/%(?:25)*3b/gi, ';');
  return decoded.split(/[/\\]/).some((segment) => /^\.\.?(?:;|$)/.test(segment));
}

/** Returns the value if the header is valid. Another attempt would fail in the same way. @throws InvalidInput */
function requireHeader(name: string, value: string): string {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    throw new InvalidInput(
      `${JSON.stringify(name)} is not the name of a header. Use letters, digits and hyphens.`,
    );
  if (/^[\t -~]*$/.test(value)) return value;
  throw new InvalidInput(
    `The header ${name} has line breaks or characters outside of ASCII. Use the filter url_encode, or another value.`,
  );
}

/** Returns the header with the secret of a host. @throws InvalidInput if the secret has no value */
function secretOf(
  { secrets }: Ctx,
  name: string,
  { secret, header }: Host,
): Readonly<Record<string, string>> {
  if (header === null) return {};
  if (secret === null || !secrets.has(secret))
    throw new InvalidInput(
      `The host ${name} has no secret. An admin sets it with \`tatami automation-hosts set-secret ${JSON.stringify(name)}\`.`,
    );
  return { [header.toLowerCase()]: secrets.ref(secret) };
}

/** Another attempt would get the stored response, so an error of the receiver ends the run. @throws InvalidInput */
function requireOk({ ok, status }: FetchResponse, request: string): void {
  if (!ok)
    throw new InvalidInput(
      `${request} was answered with status ${status}. Check the request and the receiver.`,
    );
}

interface PluginActions {
  call(plugin: string, action: string, body: { target?: RuleIssue; input?: unknown }): Promise<unknown>;
}

export async function callPlugin(run: RuleRun, step: Step<'plugin'>): Promise<void> {
  const { plugin, action, input = {} } = step.action;
  const { actions } = run.ctx as { readonly actions?: PluginActions };
  if (!actions)
    throw new InvalidInput('This server cannot call actions of plugins in a rule. Remove the action.');
  run.calls++;
  await actions.call(plugin, action, {
    ...(step.issue ? { target: step.issue } : {}),
    input: inputOf(step, input, 'input'),
  });
}
