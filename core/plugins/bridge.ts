// Host calls are calls at the one door, as the plugin: each is checked and answered exactly as any client's request, and counts
// against the limits of the plugin (limits.ts, call-turns.ts) in place of a client's rate limits.
import type { Staging } from '../changes/staging.ts';
import type { Cause } from '../events/origin.ts';
import type { App, Caller } from '../http/app.ts';
import type { Principal } from '../http/principal.ts';
import type { Route } from '../http/route.ts';
import type { CallAnswer } from '../sandbox/supervisor.ts';
import { scopeOf, type Scope } from '../store/store.ts';
import { CallError, doorCallOf, queryOf, type DoorCall } from './door-call.ts';
import { textOf } from './guest-shape.ts';
import { hostCallsOf, type HostCall, type HostCalls } from './host-calls.ts';
import { effectsMax } from './limits.ts';
import { rightsOfInstall } from './installs/hearing.ts';
import type { Install } from './installs/schema.ts';
import { ValueError, type OwnValues } from './kv/own.ts';

/** Answers larger than this do not cross the wall (characters); values of the plugin's own may be longer. */
const answerMax = 256 * 1024;
const kvAnswerMax = 2_200_000;

/** The door as plugins know it. */
export interface HostDoor {
  /** Answers with JSON, as it crosses to the guest. */
  readonly call: Caller<string>;
  readonly hostCalls: HostCalls;
  /** Lists the plugin's own keys. */
  readonly listKeys: Route;
}

/** Finds the route of each host call, once. */
export function hostDoorOf(app: App): HostDoor {
  return {
    call: app.caller((body) => {
      const taken = textOf(body);
      return { taken, bytes: taken.length };
    }),
    hostCalls: hostCallsOf(app.routes),
    listKeys: app.route('plugins.kv.list'),
  };
}

export interface BridgeCall {
  readonly door: HostDoor;
  /** The plugin; see `principalOf`. */
  readonly principal: Principal;
  readonly installId: string;
  readonly staged: Staging;
  readonly values: OwnValues;
  readonly cause: Cause;
  readonly traceparent: string | null;
}

/** The plugin, with what its install was granted, as it narrowed itself. */
export function principalOf({ workspaceId }: Scope, install: Install): Principal {
  const { id, manifest, pluginId } = install;
  return {
    scope: scopeOf(workspaceId, id),
    actor: { kind: 'plugin', id, name: manifest.name ?? pluginId },
    ...rightsOfInstall(install),
    tokenId: id,
  };
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
  const hostCall = isValue ? null : hostCallOf(call.door.hostCalls, op);
  if (!(hostCall ? hostCall.isRead : kvReads.has(op))) requireRoomToWrite(call.staged);
  const value = hostCall
    ? await ask(call, hostCall.route, doorCallOf(hostCall, args))
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
      return ask(call, call.door.listKeys, { params: { id: call.installId }, query: queryOf(args[0]) });
    case 'kv.increment':
      return JSON.stringify(await values.increment(keyOf(args[0]), args[1] ?? 1));
    case 'kv.compareAndSet':
      return JSON.stringify(await values.compareAndSet(keyOf(args[0]), args[1], args[2]));
    default:
      throw new CallError('validation_failed', `There is no host call ${op}.`);
  }
}

/** The JSON of a successful answer. */
async function ask(call: BridgeCall, route: Route, asked: DoorCall): Promise<string> {
  const { principal, cause, staged, traceparent } = call;
  const outcome = await call.door.call(route, {
    ...asked,
    principal,
    cause,
    staged,
    traceparent,
    isCounted: false,
  });
  const { error } = outcome;
  if (!error) return outcome.body;
  if (error.code === 'not_found')
    throw new CallError('not_found', 'There is nothing here that the plugin may see.');
  throw new CallError(error.code === 'precondition_failed' ? 'conflict' : error.code, error.message);
}

function keyOf(value: unknown): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-][A-Za-z0-9_.:-]{0,199}$/.test(value))
    throw new CallError('validation_failed', 'A key has up to 200 letters, digits and _ - . :');
  return value;
}
