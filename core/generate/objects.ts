// The objects that the API shows, a file for each resource, and the names of what operations take.
import type { TSchema } from 'typebox';
import type { Contract } from '../contract/contract.ts';
import { schemasOf } from '../contract/schemas.ts';
import { contracts } from '../contracts.ts';
import { capital } from '../lib/words.ts';
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

/** All that is shown. */
export function writeObjects(library: Library): void {
  // All of them first, so that each is declared in the file of its own.
  for (const contract of contracts) {
    // A search has no objects.
    if (Object.keys(contract.fields).length === 0) continue;
    library.declare(fileOf(contract), contract.title, schemasOf(contract).shown as TSchema, {
      isShown: true,
      doc: contract.doc,
    });
  }
}
