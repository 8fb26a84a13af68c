// Which resources an event has changed.
import type { EventRow } from '../events/event.ts';
import { shownData } from '../events/event.ts';
import { behind } from './resources.ts';

/** A resource that somebody watches. */
export interface Watched {
  readonly uri: string;
  /** What it shows: one object by its id or identifier, or many issues. */
  readonly of: { readonly kind: 'issue' | 'project' | 'board'; readonly name: string } | 'issues';
}

const kinds = { 'issues.get': 'issue', 'projects.get': 'project', 'boards.cards': 'board' } as const;

/** Null for an address that leads nowhere. */
export function watched(uri: string): Watched | null {
  const asked = behind(uri);
  if (!asked) return null;
  if (asked.operation === 'issues.list') return { uri, of: 'issues' };
  const kind = kinds[asked.operation as keyof typeof kinds];
  return { uri, of: { kind, name: asked.params?.id ?? '' } };
}

export function isTouched({ of }: Watched, event: EventRow): boolean {
  const { entityKind, entityId } = event;
  if (of === 'issues') return entityKind === 'issue';
  // What stands on a board is known from the issues alone.
  if (of.kind === 'board' && entityKind === 'issue') return true;
  if (of.kind !== entityKind) return false;
  if (of.name === entityId) return true;
  const { identifier } = shownData(event) as { identifier?: string | null };
  return of.kind === 'issue' && identifier === of.name.toUpperCase();
}
