// Host calls become requests at the one door, as the plugin: a call is checked and answered exactly as any client's, and counts
// against the limits of the plugin (limits.ts, call-turns.ts) in place of a client's rate limits. Identity and
// staging travel beside the Request object.
import type { Staging } from '../changes/staging.ts';
import type { Cause } from '../events/origin.ts';
import type { App } from '../http/app.ts';
import type { InProcess, InProcessCalls, Principal } from '../http/principal.ts';
import type { Rights } from '../rights/rights.ts';
import type { CallAnswer } from '../sandbox/supervisor.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import { cutLongTexts } from './guest-shape.ts';
import { CallError, queryOf, requestOf, type DoorRequest } from './door-request.ts';
import type { HostCall, HostCalls } from './host-calls.ts';
import { effectsMax } from './limits.ts';
import type { Install } from './installs/schema.ts';
import { ValueError, type OwnValues } from './kv/own.ts';

/** Answers larger than this do not cross the wall (characters); values of the plugin's own may be longer. */
const answerMax = 256 * 1024;
const kvAnswerMax = 2_200_000;

export interface BridgeCall {
  readonly app: App;
  readonly hostCalls: HostCalls;
  readonly inProcess: InProcessCalls;
  readonly install: Install;
  /** What the install was granted, as it narrowed itself. */
  readonly rights: Rights;
  readonly scope: Scope;
  readonly staged: Staging;
  readonly values: OwnValues;
  readonly cause: Cause;
  readonly traceparent: string | null;
}

/** Answers one host call. Never rejects for what the plugin did wrong. */
export async function callHost(call: BridgeCall, op: string, args: string): Promise<CallAnswer> {
  try {
    const parsed: unknown = JSON.parse(args);
    if (!Array.isArray(parsed)) throw new CallError('validation_failed', 'Arguments must be a list.');
    return { ok: true, value: await answerOf(call, op, parsed) };
  } catch (error) {
    if (error instanceof CallError || error instanceof ValueError)
      return { ok: false, error: { code: error.code, message: error.message } };
    if (error instanceof SyntaxError)
      return { ok: false, error: { code: 'validation_failed', message: 'Arguments must be JSON.' } };
    throw error;
  }
}

async function answerOf(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const isValue = op.startsWith('kv.');
  const hostCall = isValue ? null : hostCallOf(call.hostCalls, op);
  if (!(hostCall ? hostCall.isRead : kvReads.has(op))) requireRoomToWrite(call.staged);
  const value = hostCall
    ? cutLongTexts(await ask(call, requestOf(hostCall, args)))
    : await callKv(call, op, args);
  const most = isValue ? kvAnswerMax : answerMax;
  if (value.length > most)
    throw new CallError(
      'quota_exceeded',
      `The answer is longer than ${most} characters. Ask for fewer fields, or a smaller limit.`,
    );
  return value;
}

function requireRoomToWrite({ effects, fullness }: Staging): void {
  if (effects >= effectsMax)
    throw new CallError('quota_exceeded', `A run writes at most ${effectsMax} times.`);
  if (fullness !== null) throw new CallError('quota_exceeded', fullness);
}

function hostCallOf(hostCalls: HostCalls, op: string): HostCall {
  const known = hostCalls.get(op);
  if (!known) throw new CallError('validation_failed', `There is no host call ${op}.`);
  return known;
}

const kvReads: ReadonlySet<string> = new Set(['kv.get', 'kv.list']);

/** The plugin's own values need no grant. */
async function callKv(call: BridgeCall, op: string, args: readonly unknown[]): Promise<string> {
  const { values } = call;
  switch (op) {
    case 'kv.get':
      return (await values.get(keyOf(args[0]))) ?? 'null';
    case 'kv.set':
      await values.set(keyOf(args[0]), args[1]);
      return 'null';
    case 'kv.delete':
      await values.delete(keyOf(args[0]));
      return 'null';
    case 'kv.list':
      return ask(call, {
        method: 'GET',
        path: `/api/v1/plugins/${call.install.id}/kv${queryOf(args[0])}`,
      });
    case 'kv.increment':
      return JSON.stringify(await values.increment(keyOf(args[0]), args[1] ?? 1));
    case 'kv.compareAndSet':
      return JSON.stringify(await values.compareAndSet(keyOf(args[0]), args[1], args[2]));
    default:
      throw new CallError('validation_failed', `There is no host call ${op}.`);
  }
}

/** The text of a successful answer. */
async function ask(call: BridgeCall, { method, path, body, headers }: DoorRequest): Promise<string> {
  const request = new Request(`http://tatami.internal${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const principal: Principal = {
    scope: scopeOf(call.scope.workspaceId, call.install.id),
    actor: { kind: 'plugin', id: call.install.id, name: call.install.manifest.name ?? call.install.pluginId },
    ...call.rights,
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
  if (response.status === 404)
    throw new CallError('not_found', 'There is nothing here that the plugin may see.');
  if (response.status < 400) return text === '' ? 'null' : text;
  const { error } = JSON.parse(text) as { error: { code: string; message: string } };
  throw new CallError(error.code === 'precondition_failed' ? 'conflict' : error.code, error.message);
}

function keyOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$/.test(value))
    throw new CallError('validation_failed', 'A key has up to 200 letters, digits and _ - . :');
  return value;
}
