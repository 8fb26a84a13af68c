// Authorizes a request by its scope and, if the scope is narrowed, by the fields that it writes and the
// objects that it reads and changes. No other code enforces the table of core/kernel/rights.
import type { TObject, TSchema } from 'typebox';
import { ApiError } from '../../../platform/lib/errors/errors.ts';
import type { ChangeSet } from '../../changes/change.ts';
import type { Context } from '../../context.ts';
import { effectsOf, sensitiveOperations } from '../../rights/effects.ts';
import { authorityOf, type Narrowing, readScopeOf, teamIdsByKeys } from '../../rights/rights.ts';
import { fieldsOf, holderOf, narrowable, showsObjects, writtenFields } from '../../rights/table.ts';
import type { Principal } from '../principal.ts';
import { needsCaller, type Route, type RouteInput } from '../route.ts';

/** True if a plugin accesses its own install, for which it needs no grant. */
function isOwn({ own }: Route, { actor }: Principal, params: Readonly<Record<string, string>>): boolean {
  return own !== undefined && actor.kind === 'plugin' && params[own] === actor.id;
}

/**
 * Rejects a caller who may not cause the effects that an operation has in addition to its writes. Scopes are
 * checked separately.
 * @throws ApiError forbidden
 */
function requireEffects({ name }: Route, principal: Principal): void {
  const effects = effectsOf(name);
  if (!effects) return;
  const { membership } = principal;
  const { actor } = authorityOf(principal);
  const { kind } = actor;
  if (kind === 'plugin' || (kind === 'app' && effects.some(({ app }) => !app)))
    throw new ApiError(
      'forbidden',
      `${name} needs a key or a session of an admin, but ${actor.name} is ${kind === 'app' ? 'an app' : 'a plugin'}. Ask an admin.`,
    );
  const role = membership?.role;
  if ((role === 'member' || role === 'guest') && effects.some((effect) => !effect[role]))
    throw new ApiError(
      'forbidden',
      `${name} needs the role admin or owner, but ${membership!.name} has the role ${role}. Ask an admin or an owner.`,
    );
}

/**
 * @returns the narrowing of the caller's scope; null if the scope is not narrowed
 * @throws ApiError unauthorized, insufficient_scope, forbidden
 */
export function admitTo(
  route: Route,
  principal: Principal | null,
  params: Readonly<Record<string, string>>,
): Narrowing | null {
  const { scope } = route;
  if (!needsCaller(route)) return null;
  if (!principal) throw new ApiError('unauthorized', 'Send an access token: Authorization: Bearer ttm_….');
  if (scope === null || isOwn(route, principal, params)) return null;
  const narrowing = admitToScope(route, scope, principal);
  requireEffects(route, principal);
  requireRecentSignIn(route, principal);
  return narrowing;
}

/** @throws ApiError recent_sign_in_required */
function requireRecentSignIn({ name }: Route, { session }: Principal): void {
  if (session && !session.isRecent && sensitiveOperations.get(name) === 'always') throw staleSignIn(name);
}

/**
 * Rejects a body with a field that needs a recent sign-in.
 * @throws ApiError recent_sign_in_required
 */
export function requireRecentFields(route: Route, principal: Principal | null, body: unknown): void {
  const session = principal?.session;
  if (!session || session.isRecent) return;
  const fields = sensitiveOperations.get(route.name);
  if (fields === undefined || fields === 'always') return;
  const field = fieldsOf(route, body).find((name) => fields.includes(name));
  if (field !== undefined) throw staleSignIn(`${route.name} with the field ${field}`);
}

const staleSignIn = (what: string): ApiError =>
  new ApiError(
    'recent_sign_in_required',
    `${what} needs a sign-in within the last 10 minutes. Confirm the sign-in at /sign-in/again, then try again.`,
  );

/** @throws ApiError insufficient_scope */
function admitToScope(route: Route, scope: string, principal: Principal): Narrowing | null {
  if (principal.scopes.has(scope)) return null;
  const narrowing = principal.narrowed?.get(scope);
  if (!narrowing)
    throw new ApiError(
      'insufficient_scope',
      `This operation needs the scope ${scope}, which ${holderOf(principal, scope)} does not have. Use a token with the scope, or ask an admin to grant it.`,
    );
  if (narrowing.own && route.rows !== 'member')
    throw new ApiError(
      'insufficient_scope',
      `This operation needs the whole scope ${scope}, which is limited to the member's own objects. Ask an admin for the whole scope.`,
    );
  if (narrowing.teams !== null && route.rows !== 'team')
    throw new ApiError(
      'insufficient_scope',
      `This operation needs the whole scope ${scope}, which is limited to ${inTeams(narrowing)}. Ask an admin for the whole scope.`,
    );
  return narrowing;
}

/** Scope that a proposal needs, in place of the write scope. */
const proposingScope = 'proposals:write';

/**
 * A proposal needs the scope to propose and the scope to read the objects; the approver needs the scope to
 * write.
 * @throws ApiError unauthorized, insufficient_scope, forbidden
 */
export function admitToPropose(route: Route, principal: Principal | null): void {
  if (!principal) return void admitTo(route, principal, {});
  const why = whyNotProposed(route);
  if (why !== null)
    throw new ApiError('forbidden', `${route.name} cannot be proposed: ${why}. Omit the header Tatami-Mode.`);
  if (!principal.scopes.has(proposingScope))
    throw new ApiError(
      'insufficient_scope',
      `A proposal needs the scope ${proposingScope}, which ${holderOf(principal, proposingScope)} does not have. Use a token with the scope, or ask an admin to grant it.`,
    );
  admitTo({ ...route, scope: readScopeOf(route.scope!) }, principal, {});
}

/** Returns the reason why an operation cannot be proposed; null if it can. */
export function whyNotProposed({ kind, secret, name, scope }: Route): string | null {
  if (kind === 'upload') return 'uploads are never stored for approval';
  if (secret) return 'its response contains a secret, which only the caller may see';
  if (name.startsWith('proposals.')) return 'it decides on a proposal';
  return scope === null ? 'it changes nothing that needs approval' : null;
}

/** @throws ApiError insufficient_scope for a field that the narrowed scope does not cover */
export function requireFields(
  route: Route,
  { fields }: Narrowing,
  { body, query }: { readonly body: unknown; readonly query: unknown },
): void {
  if (fields === null) return;
  if (route.kind === 'read') return requireReadable(route, fields, query);
  // An operation that declares no written fields cannot be limited to some of them, so a narrowed caller may
  // not use it.
  if (writtenFields(route).length === 0) throw beyond(route, fields, `${route.name} writes more than fields`);
  const outside = fieldsOf(route, body).find((name) => !fields.includes(name));
  if (outside !== undefined) throw beyond(route, fields, `this request writes ${outside}`);
}

function beyond({ scope }: Route, fields: readonly string[], what: string): ApiError {
  const message = `${scope} is narrowed to the fields ${fields.join(', ')}; ${what}. Ask an admin for the whole scope.`;
  return new ApiError('insufficient_scope', message);
}

const anyCaller = ['limit', 'cursor', 'createdAt', 'updatedAt'];

/**
 * Rejects filters and sort keys outside the narrowed scope, because their results would reveal redacted
 * fields.
 * @throws ApiError insufficient_scope
 */
function requireReadable(route: Route, fields: readonly string[], query: unknown): void {
  const requestedFields = Object.entries(query ?? {}).flatMap(([name, value]): string[] => {
    if (value === undefined) return [];
    return name === 'sort'
      ? String(value)
          .split(',')
          .map((one) => one.replace(/^-/, ''))
      : [name];
  });
  if (!showsObjects(route)) throw beyond(route, fields, `${route.name} returns more than fields`);
  const outside = requestedFields.find((name) => !fields.includes(name) && !anyCaller.includes(name));
  if (outside === undefined) return;
  const what = narrowable([route], route.scope ?? '').fields.includes(outside)
    ? `this request reads the field ${outside}`
    : `the parameter ${outside} could reveal other fields`;
  throw beyond(route, fields, what);
}

/** @throws ApiError insufficient_scope */
export async function requireAlso(
  route: Route,
  principal: Principal,
  ctx: Context,
  input: RouteInput<TObject, TObject, TSchema>,
  proposes = false,
): Promise<void> {
  const { also } = route;
  if (!also || isOwn(route, principal, input.params as Record<string, string>)) return;
  const needed = (await also.scopes(ctx, input)).map((scope) => (proposes ? readScopeOf(scope) : scope));
  const missing = [...new Set(needed)].filter((scope) => !ctx.scopes.has(scope)).sort();
  const [first] = missing;
  if (first !== undefined)
    throw new ApiError(
      'insufficient_scope',
      `This operation also needs ${also.words}; ${holderOf(principal, first)} does not have ${missing.join(', ')}. Use a token with these scopes, or ask an admin to grant them.`,
    );
}

/**
 * Rejects a plan that changes objects outside the teams of the caller.
 * @throws ApiError insufficient_scope
 */
export function requireRows(scope: string | null, ctx: Context, { changes }: ChangeSet): void {
  const narrowing = ctx.narrowed?.get(scope ?? '');
  if (!narrowing || narrowing.teams === null) return;
  const ids = teamIdsByKeys(narrowing.teams, ctx.directory);
  if (!changes.every((change) => change.isOfTeams?.(ids) ?? false))
    throw new ApiError(
      'insufficient_scope',
      `${scope} is limited to ${inTeams(narrowing)}; this request writes to other teams. Ask an admin for the whole scope.`,
    );
}

function inTeams({ teams }: Narrowing): string {
  return `the teams ${teams!.join(', ') || '(none)'}`;
}

/**
 * Serializes writers that lost a race for an object: they plan again one after the other, in the order in
 * which they lost, so that each of many concurrent writers succeeds.
 */
export interface ContentionQueues {
  /** Runs the work after all earlier work on the same object. Rejects with the error of the work. */
  take<T>(object: string, work: () => Promise<T>): Promise<T>;
  /** True while work on the object is running or waiting. */
  isTaken(object: string): boolean;
}

export function createContentionQueues(): ContentionQueues {
  /**
   * End of the last work in each queue. The last work of an object removes its entry, so that requests in
   * progress bound the map.
   */
  const ends = new Map<string, Promise<void>>();
  return {
    isTaken: (object) => ends.has(object),
    async take(object, work) {
      const before = ends.get(object);
      const { promise: end, resolve } = Promise.withResolvers<void>();
      ends.set(object, end);
      try {
        await before;
        return await work();
      } finally {
        resolve();
        if (ends.get(object) === end) ends.delete(object);
      }
    },
  };
}
