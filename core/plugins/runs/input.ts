// What a run that no event caused was given: what its handler gets, what it came from, and on whose behalf it acts. It stands in the
// run's row, so that each attempt, also one after a restart, is given the same.
import type { Actor, Cause } from '../../events/origin.ts';
import { commonRights, type Narrowing, type Rights } from '../../rights/rights.ts';
import { tenantStatement } from '../../store/statement.ts';
import type { Scope, Store } from '../../store/store.ts';
import { expandScopes } from '../../rights/scopes.ts';
import type { RunRow } from './rows.ts';

/** Who asked for a run, with what they could do then. */
export interface RunCaller {
  readonly actor: Actor;
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

export function callerOf(principal: Rights & { readonly actor: Actor }): RunCaller {
  const { actor, scopes, narrowed } = principal;
  return { actor, scopes: [...scopes], narrowed: narrowed && [...narrowed] };
}

/** What the plugin may do in a run: no more than whoever asked for it. */
export function rightsFor(granted: Rights, caller: RunCaller | undefined): Rights {
  if (!caller) return granted;
  const { scopes, narrowed } = caller;
  return commonRights(granted, { scopes: new Set(scopes), narrowed: narrowed && new Map(narrowed) });
}

const keyNow = tenantStatement<{ scopes_json: string }>(
  'api_keys.scopes_now',
  `SELECT k.scopes_json FROM api_keys AS k JOIN members AS m ON m.workspace_id = k.workspace_id AND m.id = k.member_id
   WHERE k.workspace_id = :ws AND k.id = :id AND k.revoked_at IS NULL AND m.deleted_at IS NULL
     AND (k.expires_at IS NULL OR k.expires_at > :now)`,
);

/** The caller with what is left of its rights; null where its key is good no more. */
export async function callerNow(
  store: Store,
  scope: Scope,
  caller: RunCaller,
  nowMs: number,
): Promise<RunCaller | null> {
  if (caller.actor.kind !== 'api_key') return caller;
  const row = await store.readOne(scope, keyNow, { id: caller.actor.id, now: nowMs });
  if (!row) return null;
  const held = expandScopes(JSON.parse(row.scopes_json) as string[]);
  return { ...caller, scopes: caller.scopes.filter((one) => held.has(one)) };
}
