// Generates the response objects, one file per resource, and names the inputs of operations.
import type { TSchema } from 'typebox';
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { schemasOf } from '../../core/kernel/contract/schemas.ts';
import { contracts } from '../../core/features/contracts.ts';
import { capital } from '../../core/platform/lib/text/words.ts';
import type { Library } from './library.ts';

export function fileOf({ path }: Contract): string {
  return `${path}.ts`;
}

export function bodyName(title: string, operation: string): string {
  return `${title}${operation === 'update' ? 'Patch' : capital(operation)}`;
}

export function queryName(title: string, operation: string): string {
  return `${title}${operation === 'list' ? '' : capital(operation)}Query`;
}

export function writeObjects(library: Library): void {
  // Declares all objects before anything references them, so that each is declared in its own file.
  for (const contract of contracts) {
    // Search has no objects.
    if (Object.keys(contract.fields).length === 0) continue;
    library.declare(fileOf(contract), contract.title, schemasOf(contract).response as TSchema, {
      isResponse: true,
      doc: contract.doc,
    });
  }
}
