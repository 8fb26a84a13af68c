// Creates the context of an operation: the caller, the workspace and the objects that are visible to the
// caller.
import type { Staging } from '../../changes/staging.ts';
import type { Context, Directory, Services } from '../../context.ts';
import { authorityOf } from '../../rights/authority.ts';
import type { Scope } from '../../../platform/store/store.ts';
import { teamsSeen } from '../../rights/rights.ts';
import { requireAlso } from '../limits/admission.ts';
import type { Call } from '../call.ts';
import type { Route } from '../route.ts';

export interface ContextOptions {
  readonly services: Services;
  readonly directoryOf: (scope: Scope) => Directory | Promise<Directory>;
}

/** Returns the overrides for a read at a past moment. */
const thenOf = (staged: Staging | null): { readonly directory: Directory; nowMs(): number } | null => {
  const past = staged?.past;
  return past ? { directory: past.directory, nowMs: () => past.atMs } : null;
};

/** The returned function rejects with ApiError insufficient_scope if the requested object needs more scopes. */
export function createContextOf(
  route: Route,
  { services, directoryOf }: ContextOptions,
): (call: Call) => Context | Promise<Context> {
  const contextIn = (directory: Directory, { principal, origin, exchange, terms }: Call): Context => ({
    ...services,
    scope: { ...principal.scope, waiting: exchange.waiting },
    workspaceId: principal.scope.workspaceId,
    directory,
    ...thenOf(origin.staged),
    actor: principal.actor,
    authority: authorityOf(principal),
    membership: principal.membership,
    scopes: principal.scopes,
    narrowed: principal.narrowed,
    visibleTeams: teamsSeen(route.scope, principal, origin.staged?.past?.directory ?? directory),
    cause: origin.cause,
    requestId: exchange.requestId,
    traceparent: origin.traceparent,
    simulates: terms.mode === 'simulate',
    staged: origin.staged,
  });
  const contextOf = (call: Call): Context | Promise<Context> => {
    const directory = directoryOf(call.principal.scope);
    return directory instanceof Promise
      ? directory.then((read) => contextIn(read, call))
      : contextIn(directory, call);
  };
  if (!route.also) return contextOf;
  return async (call) => {
    const ctx = await contextOf(call);
    await requireAlso(route, call.principal, ctx, call.input, call.terms.mode === 'propose');
    return ctx;
  };
}
