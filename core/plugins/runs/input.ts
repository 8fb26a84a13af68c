// What a run that no event caused was given: what its handler gets, what it came from, and on whose behalf it acts. It stands in the
// run's row, so that each attempt, also one after a restart, is given the same.
import type { Cause } from '../../events/origin.ts';
import { authorityGuards, rightsNow } from '../../identity/rights-now.ts';
import type { Authority, Authorized } from '../../rights/authority.ts';
import { commonRights, type Narrowing, type Rights } from '../../rights/rights.ts';
import type { Op, Scope, Store } from '../../store/store.ts';
import type { RunRow } from './rows.ts';

/** Who asked for a run, with what they could do then. */
export interface RunCaller extends Authority {
  readonly scopes: readonly string[];
  readonly narrowed: readonly (readonly [scope: string, narrowing: Narrowing])[] | null;
}

export interface RunInput {
  /** What the handler gets. */
  readonly event: Readonly<Record<string, unknown>>;
  /** Of a one-off: the cause of whatever asked for it. */
  readonly cause?: Cause;
  readonly caller?: RunCaller;
}

export function inputOf({ input_json: text }: Pick<RunRow, 'input_json'>): RunInput | null {
  return text === null ? null : (JSON.parse(text) as RunInput);
}

export function callerOf({ authority, scopes, narrowed }: Rights & Authorized): RunCaller {
  return { ...authority, scopes: [...scopes], narrowed: narrowed && [...narrowed] };
}

/** What the plugin may do in a run: no more than whoever asked for it. */
export function rightsFor(granted: Rights, caller: RunCaller | undefined): Rights {
  if (!caller) return granted;
  return commonRights(granted, rightsOfCaller(caller));
}

/** The caller with what is left of its rights; null where it has none, as what it came with is good no more. */
export async function callerNow(
  store: Store,
  scope: Scope,
  caller: RunCaller,
  nowMs: number,
): Promise<RunCaller | null> {
  const left = await rightsNow(store, scope, { ...caller, rights: rightsOfCaller(caller) }, nowMs);
  return left && callerOf({ authority: authorityOf(caller), ...left });
}

/** What a run was given, with the rights that its caller still has; `ended` where the credential of its caller has ended. */
export async function inputNow(
  store: Store,
  scope: Scope,
  run: Pick<RunRow, 'input_json'>,
  nowMs: number,
): Promise<RunInput | null | 'ended'> {
  const input = inputOf(run);
  if (!input?.caller) return input;
  const caller = await callerNow(store, scope, input.caller, nowMs);
  return caller ? { ...input, caller } : 'ended';
}

/** Guards the commit of a run that somebody asked for: their credential must still be good. */
export function callerGuards(scope: Scope, run: Pick<RunRow, 'input_json'>, nowMs: number): Op[] {
  const caller = inputOf(run)?.caller;
  return caller ? authorityGuards(scope, caller, nowMs) : [];
}

function authorityOf({ actor, grantId }: RunCaller): Authority {
  return grantId === undefined ? { actor } : { actor, grantId };
}

function rightsOfCaller({ scopes, narrowed }: RunCaller): Rights {
  return { scopes: new Set(scopes), narrowed: narrowed && new Map(narrowed) };
}
