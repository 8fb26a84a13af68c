// The names of what the document describes, where nothing gives a better one.
import type { TSchema } from 'typebox';
import { named } from '../../lib/schema.ts';
import { capital } from '../../lib/words.ts';
import type { Route } from '../route.ts';

/** `issue.state_changed` → `IssueStateChanged` */
export function nameOf(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('');
}

/** A body under its own name, or that of its operation: no body of the document is without one. */
export function bodyNameOf(route: Route, schema: TSchema, kind: 'Body' | 'Answer'): TSchema {
  return 'x-name' in schema ? schema : named(`${nameOf(route.name)}${kind}`, { ...schema });
}
