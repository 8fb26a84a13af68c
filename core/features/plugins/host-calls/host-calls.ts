// Derives the host calls of plugins from the contracts: each call is the operation of the same name, takes the arguments of its route,
// and is authorized by that operation's entry in the table of rights. The guest's stubs (core/platform/sandbox/sidecar/guest/generated/surface.ts)
// and the types of the SDK are generated from this list.
import { scopeOfContract, type Contract } from '../../../kernel/contract/contract.ts';
import { contracts } from '../../contracts.ts';
import { takesIfMatch, type Route } from '../../../kernel/http/route.ts';
import { camel } from '../../../platform/lib/text/words.ts';

/** Part of the request that an argument becomes, in argument order: `{id}` of the path, body, query, headers. */
export type Argument = 'id' | 'body' | 'query' | 'options';

export interface HostCall {
  readonly route: Route;
  readonly takes: readonly Argument[];
  readonly isRead: boolean;
}

/** Keyed by call name, such as `issues.get`. */
export type HostCalls = ReadonlyMap<string, HostCall>;

/** @throws Error if a contract names a call that no plugin can make */
export function hostCallsOf(routes: readonly Route[]): HostCalls {
  const byName = new Map(routes.map((route) => [route.name, route]));
  return new Map(
    contracts.flatMap((contract) =>
      (contract.calls ?? []).map((operation) => {
        const name = `${contract.path}.${operation}`;
        return [callName(contract, operation), hostCallOf(contract, name, byName.get(name))] as const;
      }),
    ),
  );
}

/**
 * Returns the name of a call in the SDK: `reactions.listOnIssue` for the operation `reactions.list-on-issue`.
 */
export function callName({ path }: Contract, operation: string): string {
  return `${path}.${camel(operation)}`;
}

function hostCallOf(contract: Contract, name: string, route: Route | undefined): HostCall {
  if (route?.kind !== 'read' && route?.kind !== 'write')
    throw new Error(`The host call ${name} has no route that reads or writes.`);
  const isRead = route.kind === 'read';
  // The guest exposes a call by the scope of its namespace, so the route must require the same scope.
  if (route.scope !== scopeOfContract(contract, isRead ? 'read' : 'write'))
    throw new Error(`The host call ${name} needs the scope ${route.scope}.`);
  return { route, takes: takesOf(name, route), isRead };
}

function takesOf(name: string, route: Route): Argument[] {
  const params = Object.keys(route.params?.properties ?? {});
  if (params.some((param) => param !== 'id')) throw new Error(`The host call ${name} takes more than an id.`);
  const all: readonly (readonly [Argument, boolean])[] = [
    ['id', params.length > 0],
    ['body', route.body !== undefined],
    ['query', route.query !== undefined],
    ['options', takesIfMatch(route)],
  ];
  return all.filter(([, isTaken]) => isTaken).map(([argument]) => argument);
}
