// Maps events to the resources that they change.
import type { EventRow } from '../events/event.ts';
import { renderData } from '../events/event.ts';
import { behind } from './resources.ts';

export interface WatchedResource {
  readonly uri: string;
  /** Content of the resource: one object, by its id or identifier, or a list of issues. */
  readonly of: { readonly kind: 'issue' | 'project' | 'board'; readonly name: string } | 'issues';
}

const objectTypes = { 'issues.get': 'issue', 'projects.get': 'project', 'boards.cards': 'board' } as const;

/** @returns null for an unknown URI */
export function watched(uri: string): WatchedResource | null {
  const request = behind(uri);
  if (!request) return null;
  if (request.operation === 'issues.list') return { uri, of: 'issues' };
  const kind = objectTypes[request.operation as keyof typeof objectTypes];
  return { uri, of: { kind, name: request.params?.id ?? '' } };
}

export function isTouched({ of }: WatchedResource, event: EventRow): boolean {
  const { entityKind, entityId } = event;
  if (of === 'issues') return entityKind === 'issue';
  // The cards of a board derive from issues, so every issue event can change the board.
  if (of.kind === 'board' && entityKind === 'issue') return true;
  if (of.kind !== entityKind) return false;
  if (of.name === entityId) return true;
  const { identifier } = renderData(event) as { identifier?: string | null };
  return of.kind === 'issue' && identifier === of.name.toUpperCase();
}
