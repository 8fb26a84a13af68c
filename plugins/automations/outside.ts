// Actions outside of the tracker: requests to hosts that an administrator allowed, and actions of other plugins.
import { InvalidInput, type FetchResponse } from '@tatami/sdk/plugin';
import { inputOf, textOf, type Step } from './actions.ts';
import type { Ctx, Host, RuleIssue } from './rule.ts';
import { callOf, type RuleRun } from './run.ts';
import { renderAll } from './template.ts';

export async function send(run: RuleRun, step: Step<'http'>): Promise<void> {
  const { action, target, label } = step;
  const host = run.ctx.settings.hosts[action.host];
  if (!host) throw new InvalidInput(`The host "${action.host}" is unknown. Ask an administrator to add it.`);
  const path = textOf(step, action.path, 'path');
  if (!path.startsWith('/')) throw new InvalidInput('The path must start with a slash, such as /v1/events.');
  // The body is sent as it is, so references in it are complete objects.
  const body = renderAll(action.body, target.scope, `${label}, body`);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(action.headers ?? {}))
    headers[name.toLowerCase()] = textOf(step, value, `headers.${name}`);
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

/** Returns the header with the secret of a host. @throws InvalidInput if the secret has no value */
function secretOf(
  { secrets }: Ctx,
  name: string,
  { secret, header }: Host,
): Readonly<Record<string, string>> {
  if (secret === null) return {};
  if (!secrets.has(secret))
    throw new InvalidInput(`The host "${name}" needs the secret ${secret}. Ask an administrator to set it.`);
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
