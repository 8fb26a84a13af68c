// Decides whether a caller may do what a request asks: by its scope, and where it holds the scope only in part, by the fields it
// writes and the objects it sees and changes. This is the one place that enforces the table of core/rights.
import type { ChangeSet } from '../changes/change.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../lib/errors.ts';
import { authorityOf } from '../rights/authority.ts';
import { effectsOf } from '../rights/effects.ts';
import { readScopeOf, teamsNamed, type Narrowing } from '../rights/rights.ts';
import { fieldsOf, narrowable, showsObjects, writtenFields } from '../rights/table.ts';
import { holderOf } from '../rights/words.ts';
import type { Principal } from './principal.ts';
import { needsCaller, type Input, type Route } from './route.ts';
import type { TObject, TSchema } from 'typebox';

/** Whether a plugin asks about its own install, for which it needs no grant. */
function isOwn({ own }: Route, { actor }: Principal, params: Readonly<Record<string, string>>): boolean {
  return own !== undefined && actor.kind === 'plugin' && params[own] === actor.id;
}

/**
 * Holds the effects that an operation has beside what it writes to the table of effects. Scopes are checked apart.
 * @throws ApiError forbidden
 */
function requireEffects({ name }: Pick<Route, 'name'>, principal: Principal): void {
  const effects = effectsOf(name);
  if (!effects) return;
  const { standing } = principal;
  const { actor } = authorityOf(principal);
  const { kind } = actor;
  if (kind === 'plugin' || (kind === 'app' && effects.some(({ app }) => !app)))
    throw new ApiError(
      'forbidden',
      `${name} takes a key or a session of an admin, and ${actor.name} is ${kind === 'app' ? 'an app' : 'a plugin'}.`,
    );
  const role = standing?.role;
  if ((role === 'member' || role === 'guest') && effects.some((effect) => !effect[role]))
    throw new ApiError(
      'forbidden',
      `${name} takes the role admin or owner, and ${standing!.name} has the role ${role}.`,
    );
}

/**
 * @returns how the caller's scope is narrowed; null where it is held in full
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
  return narrowing;
}

/** @throws ApiError insufficient_scope */
function admitToScope(route: Route, scope: string, principal: Principal): Narrowing | null {
  if (principal.scopes.has(scope)) return null;
  const narrowing = principal.narrowed?.get(scope);
  if (!narrowing)
    throw new ApiError(
      'insufficient_scope',
      `This needs the scope ${scope}, which ${holderOf(principal, scope)} does not have.`,
    );
  if (narrowing.own && route.rows !== 'member')
    throw new ApiError(
      'insufficient_scope',
      `This needs the whole scope ${scope}; it is held for what is the member's own.`,
    );
  if (narrowing.teams !== null && route.rows !== 'team')
    throw new ApiError(
      'insufficient_scope',
      `This needs the whole scope ${scope}; it is held ${inTeams(narrowing)}.`,
    );
  return narrowing;
}

/** What whoever proposes needs, in place of the scope that writes. */
const proposingScope = 'proposals:write';

/**
 * To propose a write takes the right to propose, and to read what it is about; the right to write is for who approves.
 * @throws ApiError unauthorized, insufficient_scope, forbidden
 */
export function admitToPropose(route: Route, principal: Principal | null): void {
  if (!principal) return void admitTo(route, principal, {});
  const why = whyNotProposed(route);
  if (why !== null)
    throw new ApiError('forbidden', `${route.name} cannot be proposed: ${why}. Leave Tatami-Mode out.`);
  if (!principal.scopes.has(proposingScope))
    throw new ApiError(
      'insufficient_scope',
      `To propose needs the scope ${proposingScope}, which ${holderOf(principal, proposingScope)} does not have.`,
    );
  admitTo({ ...route, scope: readScopeOf(route.scope!) }, principal, {});
}

/** Reason why the operation cannot be shown as a change that waits for approval; null where it can. */
export function whyNotProposed({ kind, secret, name, scope }: Route): string | null {
  if (kind === 'upload') return 'a file is sent at once or not at all';
  if (secret) return 'its answer shows a secret, which only the one who asks may see';
  if (name.startsWith('proposals.')) return 'it is itself a decision on a proposal';
  return scope === null ? 'it changes nothing that others decide on' : null;
}

/** @throws ApiError insufficient_scope for a field outside of those that the scope is narrowed to */
export function requireFields(
  route: Route,
  { fields }: Narrowing,
  { body, query }: { readonly body: unknown; readonly query: unknown },
): void {
  if (fields === null) return;
  if (route.kind === 'read') return requireShown(route, fields, query);
  // An operation that names no field it writes cannot be held to some fields, so that a narrowed caller may not use it.
  if (writtenFields(route).length === 0) throw beyond(route, fields, `${route.name} writes more than fields`);
  const outside = fieldsOf(route, body).find((name) => !fields.includes(name));
  if (outside !== undefined) throw beyond(route, fields, `this writes ${outside}`);
}

function beyond({ scope }: Route, fields: readonly string[], what: string): ApiError {
  const message = `${scope} is narrowed to the fields ${fields.join(', ')}; ${what}.`;
  return new ApiError('insufficient_scope', message);
}

const anyCaller = ['limit', 'cursor', 'createdAt', 'updatedAt'];

/** Objects are shown without the other fields; nobody finds or sorts them by these either. @throws ApiError insufficient_scope */
function requireShown(route: Route, fields: readonly string[], query: unknown): void {
  const named = Object.entries(query ?? {}).flatMap(([name, value]): string[] => {
    if (value === undefined) return [];
    return name === 'sort'
      ? String(value)
          .split(',')
          .map((one) => one.replace(/^-/, ''))
      : [name];
  });
  if (!showsObjects(route))
    throw beyond(route, fields, `${route.name} shows more than fields, and takes the scope in full`);
  const outside = named.find((name) => !fields.includes(name) && !anyCaller.includes(name));
  if (outside === undefined) return;
  const what = narrowable([route], route.scope ?? '').fields.includes(outside)
    ? `this asks for the field ${outside}`
    : `the parameter ${outside} could ask for others`;
  throw beyond(route, fields, what);
}

/** @throws ApiError insufficient_scope */
export async function requireAlso(
  route: Route,
  principal: Principal,
  ctx: Context,
  input: Input<TObject, TObject, TSchema>,
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
      `This also needs ${also.words}, of which ${holderOf(principal, first)} does not have ${missing.join(', ')}.`,
    );
}

/** Holds a plan to the teams of the caller by what it would write, whichever way it came to that. @throws ApiError insufficient_scope */
export function requireRows({ scope }: Pick<Route, 'scope'>, ctx: Context, { changes }: ChangeSet): void {
  const narrowing = ctx.narrowed?.get(scope ?? '');
  if (!narrowing || narrowing.teams === null) return;
  const ids = teamsNamed(narrowing.teams, ctx.directory);
  if (!changes.every((change) => change.isOfTeams?.(ids) ?? false))
    throw new ApiError(
      'insufficient_scope',
      `${scope} is held ${inTeams(narrowing)}; this writes elsewhere.`,
    );
}

function inTeams({ teams }: Narrowing): string {
  return `only in the teams ${teams!.join(', ') || '(none)'}`;
}
