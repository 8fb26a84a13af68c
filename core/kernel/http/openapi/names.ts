// Default names of schemas in the OpenAPI document.
import type { TSchema } from 'typebox';
import { namedSchema } from '../../../platform/lib/schema.ts';
import { capital } from '../../../platform/lib/text/words.ts';
import type { Route } from '../route.ts';

/** `issue.state_changed` → `IssueStateChanged` */
export function nameOf(words: string): string {
  return words
    .split(/[^a-zA-Z0-9]+/)
    .map(capital)
    .join('');
}

/** Names a body after its operation if it has no name, because every body in the document needs one. */
export function bodyNameOf(route: Route, schema: TSchema, suffix: 'Body' | 'Answer'): TSchema {
  return 'x-name' in schema ? schema : namedSchema(`${nameOf(route.name)}${suffix}`, { ...schema });
}
