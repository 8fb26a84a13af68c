// The calls that plugins make of the host: each is the operation of the same name, and the contracts say which those are. What a
// call takes follows from its route, so the door checks it by that operation's entry in the table of rights. The guest's side of
// this list (core/sandbox/sidecar/guest/generated/surface.ts) and the types of the SDK are generated from it.
import { scopeOfContract, type Contract } from '../contract/contract.ts';
import { contracts } from '../contracts.ts';
import { takesIfMatch, type Route } from '../http/route.ts';
import { camel } from '../lib/words.ts';

/** What an argument becomes, in the order of arguments: the `{id}` of the path, the body, the query, headers. */
export type Argument = 'id' | 'body' | 'query' | 'options';

export interface HostCall {
  readonly route: Route;
  readonly takes: readonly Argument[];
  readonly isRead: boolean;
}

/** By name: `issues.get`. */
export type HostCalls = ReadonlyMap<string, HostCall>;

/** Calls that had another name once, which installed packages use: name → the call that it is. */
export const earlierNames: Readonly<Record<string, string>> = { 'comments.add': 'comments.create' };

/** @throws Error when a contract names a call that no plugin can make */
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

/** As it is called: `reactions.listOnIssue` is the operation `reactions.list-on-issue`. */
export function callName({ path }: Pick<Contract, 'path'>, operation: string): string {
  return `${path}.${camel(operation)}`;
}

function hostCallOf(contract: Contract, name: string, route: Route | undefined): HostCall {
  if (route?.kind !== 'read' && route?.kind !== 'write')
    throw new Error(`The host call ${name} has no route that reads or writes.`);
  const isRead = route.kind === 'read';
  // The guest shows a call by the scope of its namespace.
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
