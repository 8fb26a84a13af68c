// The objects that the API shows and the bodies that it takes: a file for each resource.
import type { TSchema } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import { schemasOf } from '../contract/schemas.ts';
import { contracts } from '../contracts.ts';
import type { Route } from '../http/route.ts';
import type { HostCalls } from '../plugins/host-calls.ts';
import type { Library } from './library.ts';

export function fileOf({ path }: Contract): string {
  return `${path}.ts`;
}

/** What the body of an operation is called. */
export function bodyName(title: string, operation: string): string {
  return `${title}${operation === 'update' ? 'Patch' : capital(operation)}`;
}

/** What the query of an operation is called. */
export function queryName(title: string, operation: string): string {
  return `${title}${operation === 'list' ? '' : capital(operation)}Query`;
}

const capital = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

/** All that is shown, the bodies of creations and updates, and what host calls take. */
export function writeObjects(library: Library, routes: readonly Route[], hostCalls: HostCalls): void {
  // All of them first, so that each is declared in the file of its own.
  for (const contract of contracts)
    library.declare(fileOf(contract), contract.title, schemasOf(contract).shown as TSchema, {
      isShown: true,
      doc: contract.doc,
    });
  for (const contract of contracts)
    for (const route of routes) {
      const [path, operation = ''] = route.name.split('.');
      if (path !== contract.path) continue;
      const isCalled = hostCalls.has(route.name);
      if (isCalled || operation === 'create' || operation === 'update')
        writeBody(library, contract, operation, route);
      if (isCalled) writeQuery(library, contract, operation, route);
    }
}

function writeBody(library: Library, contract: Contract, operation: string, { body, summary }: Route): void {
  if (!body) return;
  const name = bodyName(contract.title, operation);
  library.declare(fileOf(contract), name, body, { isShown: false, doc: `${summary}.` });
}

function writeQuery(library: Library, contract: Contract, operation: string, route: Route): void {
  if (!route.query) return;
  const name = queryName(contract.title, operation);
  library.declare(fileOf(contract), name, route.query, { isShown: false, doc: `${route.summary}.` });
}
