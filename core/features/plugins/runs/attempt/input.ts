// Input of a run that no event triggered: the handler's argument, the cause and the caller. The input is
// stored in the row of the run, so that all attempts get the same input.
import type { Cause } from '../../../../kernel/events/event.ts';
import { authorityGuards, rightsNow } from '../../../me/index.ts';
import {
  type Authority,
  type Authorized,
  commonRights,
  type Narrowing,
  type Rights,
} from '../../../../kernel/rights/rights.ts';
import type { Op, Scope, Store } from '../../../../platform/store/store.ts';
import type { RunRow } from '../rows.ts';

/** The caller of a run, with the rights at the time of the call. */
export interface RunCaller extends Authority {
  readonly scopes: readonly string[];
  readonly narrowed: readonly (readonly [scope: string, narrowing: Narrowing])[] | null;
}

export interface RunInput {
  /** Argument of the handler. */
  readonly event: Readonly<Record<string, unknown>>;
  /** Set for a one-time job: the cause of the run that scheduled it. */
  readonly cause?: Cause;
  readonly caller?: RunCaller;
}

export function inputOf({ input_json: text }: RunRow): RunInput | null {
  return text === null ? null : (JSON.parse(text) as RunInput);
}

export function callerOf({ authority, scopes, narrowed }: Rights & Authorized): RunCaller {
  return { ...authority, scopes: [...scopes], narrowed: narrowed && [...narrowed] };
}

/** Returns the rights that plugin and caller have in common; those of the plugin if there is no caller. */
export function rightsFor(granted: Rights, caller: RunCaller | undefined): Rights {
  if (!caller) return granted;
  return commonRights(granted, rightsOfCaller(caller));
}

/** Returns the caller with its remaining rights; null if its credential is no longer valid. */
export async function callerNow(
  store: Store,
  scope: Scope,
  caller: RunCaller,
  nowMs: number,
): Promise<RunCaller | null> {
  const left = await rightsNow(store, scope, { ...caller, rights: rightsOfCaller(caller) }, nowMs);
  return left && callerOf({ authority: authorityOf(caller), ...left });
}

/** Returns the input with the remaining rights of its caller; `ended` if the caller's credential is no longer valid. */
export async function inputNow(
  store: Store,
  scope: Scope,
  run: RunRow,
  nowMs: number,
): Promise<RunInput | null | 'ended'> {
  const input = inputOf(run);
  if (!input?.caller) return input;
  const caller = await callerNow(store, scope, input.caller, nowMs);
  return caller ? { ...input, caller } : 'ended';
}

/** Guards the commit of a called run: the caller's credential must still be valid. */
export function callerGuards(scope: Scope, run: RunRow, nowMs: number): Op[] {
  const caller = inputOf(run)?.caller;
  return caller ? authorityGuards(scope, caller, nowMs) : [];
}

function authorityOf({ actor, grantId }: RunCaller): Authority {
  return grantId === undefined ? { actor } : { actor, grantId };
}

function rightsOfCaller({ scopes, narrowed }: RunCaller): Rights {
  return { scopes: new Set(scopes), narrowed: narrowed && new Map(narrowed) };
}
