// Host calls become requests at the one door, as the plugin: a call is checked, limited and answered exactly as any
// client's. This file only says which request a call is; identity and staging travel beside the Request object.
import type { PluginManifest } from '../../sdk/plugin/manifest.ts';
import type { Staging } from '../changes/staging.ts';
import type { Cause } from '../context.ts';
import type { App } from '../http/app.ts';
import type { InProcess, InProcessCalls, Principal } from '../http/principal.ts';
import { expandScopes } from '../http/scopes.ts';
import type { CallAnswer } from '../sandbox/supervisor.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import { cutLongTexts } from './guest-shape.ts';
import { effectsMax } from './limits.ts';
import type { Install } from './installs/schema.ts';

/** Answers larger than this do not cross the wall (characters); values of the plugin's own may be longer. */
const answerMax = 256 * 1024;
const kvAnswerMax = 2_200_000;

/** A call that cannot become a request; told to the guest as it is. */
class CallError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

interface DoorRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BridgeCall {
  readonly app: App;
  readonly inProcess: InProcessCalls;
  readonly install: Install;
  readonly scope: Scope;
  readonly staged: Staging;
  readonly cause: Cause;
  readonly traceparent: string | null;
}

/** Answers one host call. Never rejects. */
export async function callHost(call: BridgeCall, op: string, args: string): Promise<CallAnswer> {
  try {
    const parsed: unknown = JSON.parse(args);
    if (!Array.isArray(parsed)) throw new CallError('validation_failed', 'Arguments must be a list.');
    if (call.staged.effects >= effectsMax && !isRead(op))
      throw new CallError('quota_exceeded', `A run writes at most ${effectsMax} times.`);
    const value = op.startsWith('kv.')
      ? await callKv(call, op, parsed)
      : await callResource(call, op, parsed);
    if (value.length > (op.startsWith('kv.') ? kvAnswerMax : answerMax))
      throw new CallError(
        'quota_exceeded',
        `The answer is longer than ${answerMax} characters. Ask for fewer fields, or a smaller limit.`,
      );
    return { ok: true, value };
  } catch (error) {
    if (error instanceof CallError) return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof SyntaxError)
      return { ok: false, error: { code: 'validation_failed', message: 'Arguments must be JSON.' } };
    throw error;
  }
}

function isRead(op: string): boolean {
  return op.endsWith('.get') || op.endsWith('.list');
}

async function callResource(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const request = requestOf(op, args);
  if (op === 'issues.create' || op === 'issues.update') await checkNarrowing(call, op, args);
  const answer = await ask(call, request, expandScopes(call.install.grant));
  return cutLongTexts(answer);
}

function requestOf(op: string, args: readonly unknown[]): DoorRequest {
  switch (op) {
    case 'issues.get':
      return { method: 'GET', path: `/issues/${idOf(args[0])}` };
    case 'issues.list':
      return { method: 'GET', path: `/issues${queryOf(args[0])}` };
    case 'issues.create':
      return { method: 'POST', path: '/issues', body: objectOf(args[0]) };
    case 'issues.update': {
      const { ifVersion } = objectOf(args[2] ?? {});
      const headers = ifVersion === undefined ? {} : { 'if-match': `"${String(ifVersion)}"` };
      return { method: 'PATCH', path: `/issues/${idOf(args[0])}`, body: objectOf(args[1]), headers };
    }
    case 'comments.list':
      return { method: 'GET', path: `/issues/${idOf(args[0])}/comments${queryOf(args[1])}` };
    case 'comments.add':
      return { method: 'POST', path: `/issues/${idOf(args[0])}/comments`, body: objectOf(args[1]) };
    case 'comments.resolve':
      return { method: 'POST', path: `/comments/${idOf(args[0])}/resolve` };
    case 'labels.list':
      return { method: 'GET', path: `/labels${queryOf(args[0])}` };
    case 'projects.get':
      return { method: 'GET', path: `/projects/${idOf(args[0])}` };
    case 'projects.list':
      return { method: 'GET', path: `/projects${queryOf(args[0])}` };
    default:
      throw new CallError('validation_failed', `There is no host call ${op}.`);
  }
}

async function callKv(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const base = `/plugins/${call.install.id}/kv`;
  // The plugin's own values need no grant; these scopes go with requests to its own path only.
  const scopes = expandScopes(['plugins:write']);
  const read = async (key: unknown): Promise<{ value: unknown; version: number } | null> => {
    const answer = await askOr404(call, { method: 'GET', path: `${base}/${keyOf(key)}` }, scopes);
    return answer === null ? null : (JSON.parse(answer) as { value: unknown; version: number });
  };
  const write = (key: unknown, value: unknown, version: number | null): Promise<string> =>
    ask(
      call,
      {
        method: 'PUT',
        path: `${base}/${keyOf(key)}`,
        body: { value: value ?? null },
        ...(version === null ? {} : { headers: { 'if-match': `"${version}"` } }),
      },
      scopes,
    );
  switch (op) {
    case 'kv.get':
      return JSON.stringify((await read(args[0]))?.value ?? null);
    case 'kv.set':
      await write(args[0], args[1], null);
      return 'null';
    case 'kv.delete':
      await askOr404(call, { method: 'DELETE', path: `${base}/${keyOf(args[0])}` }, scopes);
      return 'null';
    case 'kv.list':
      return ask(call, { method: 'GET', path: `${base}${queryOf(args[0])}` }, scopes);
    case 'kv.increment': {
      const by = args[1] ?? 1;
      const known = await read(args[0]);
      const current = known?.value ?? 0;
      if (typeof by !== 'number' || typeof current !== 'number')
        throw new CallError('validation_failed', 'Only numbers can be incremented.');
      await write(args[0], current + by, known?.version ?? null);
      return JSON.stringify(current + by);
    }
    case 'kv.compareAndSet': {
      const known = await read(args[0]);
      if (JSON.stringify(known?.value ?? null) !== JSON.stringify(args[1] ?? null)) return 'false';
      await write(args[0], args[2], known?.version ?? null);
      return 'true';
    }
    default:
      throw new CallError('validation_failed', `There is no host call ${op}.`);
  }
}

/** The manifest may narrow a scope to fields and teams; what it promised at consent holds here. */
async function checkNarrowing(call: BridgeCall, op: string, args: readonly unknown[]): Promise<void> {
  const request: NonNullable<PluginManifest['scopes']>[string] | undefined =
    call.install.manifest.scopes?.['issues:write'];
  const fields = op === 'issues.update' ? Object.keys(objectOf(args[1])) : [];
  const outside = request?.fields && fields.find((name) => !request.fields!.includes(name));
  if (outside !== undefined)
    throw new CallError(
      'insufficient_scope',
      `The plugin declared to write only ${request!.fields!.join(', ')}, not ${outside}.`,
    );
  const teams = request?.where?.team;
  if (!teams) return;
  const team =
    op === 'issues.create'
      ? objectOf(args[0]).team
      : (
          JSON.parse(
            await ask(
              call,
              { method: 'GET', path: `/issues/${idOf(args[0])}` },
              expandScopes(['issues:read']),
            ),
          ) as { team: { key: string } }
        ).team.key;
  if (!teams.includes(String(team)))
    throw new CallError('insufficient_scope', `The plugin declared to write only in ${teams.join(', ')}.`);
}

async function ask(call: BridgeCall, request: DoorRequest, scopes: ReadonlySet<string>): Promise<string> {
  const answer = await askOr404(call, request, scopes);
  if (answer === null) throw new CallError('not_found', 'There is nothing here that the plugin may see.');
  return answer;
}

/** The text of a successful answer, null for 404. */
async function askOr404(
  call: BridgeCall,
  { method, path, body, headers }: DoorRequest,
  scopes: ReadonlySet<string>,
): Promise<string | null> {
  const request = new Request(`http://tatami.internal/api/v1${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const principal: Principal = {
    scope: scopeOf(call.scope.workspaceId, call.install.id),
    actor: { kind: 'plugin', id: call.install.id, name: call.install.manifest.name ?? call.install.pluginId },
    scopes,
    tokenId: call.install.id,
  };
  const identity: InProcess = {
    principal,
    cause: call.cause,
    staged: call.staged,
    traceparent: call.traceparent,
  };
  call.inProcess.attach(request, identity);
  const response = await call.app.fetch(request);
  const text = await response.text();
  if (response.status === 404) return null;
  if (response.status < 400) return text === '' ? 'null' : text;
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  throw new CallError(error.code === 'precondition_failed' ? 'conflict' : error.code, error.message);
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[\w-]{1,80}$/.test(value))
    throw new CallError('validation_failed', 'Give an id.');
  return value;
}

function keyOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$/.test(value))
    throw new CallError('validation_failed', 'A key has up to 200 letters, digits and _ - . :');
  return encodeURIComponent(value);
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    throw new CallError('validation_failed', 'Give an object.');
  return value as Record<string, unknown>;
}

/** Lists are comma-separated, filters are JSON: the guest may give either as plain values. */
function queryOf(value: unknown): string {
  const search = new URLSearchParams();
  for (const [name, given] of Object.entries(value === undefined || value === null ? {} : objectOf(value))) {
    if (given === undefined || given === null) continue;
    search.set(
      name,
      Array.isArray(given)
        ? given.join(',')
        : typeof given === 'object'
          ? JSON.stringify(given)
          : String(given),
    );
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
