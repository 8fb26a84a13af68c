// What an attempt notes of its reading, by the isolation that its plugin asks for. docs/spec/plugins.md › Isolation.
import { ReadSet } from '../../changes/reads.ts';
import { contracts } from '../../contracts.ts';
import type { EventRow } from '../../events/event.ts';
import { lastSequence } from '../../events/log.ts';
import type { Scope } from '../../store/store.ts';
import type { Install } from '../installs/schema.ts';
import type { AttemptOptions } from './attempt.ts';

const directoryKinds: ReadonlySet<string> = new Set(
  contracts.flatMap(({ name, directory }) => (directory ? [name] : [])),
);

/**
 * Null for a plugin that asks for no isolation. What this process knows to be the end of the log was committed, so that every read sees
 * it; it may be less than the end, and then more is looked at than need be.
 */
export function readSetOf(
  { fresh, store }: Pick<AttemptOptions, 'fresh' | 'store'>,
  scope: Scope,
  { manifest }: Install,
  event: EventRow | undefined,
): ReadSet | null {
  if (manifest.isolation === 'none') return null;
  return new ReadSet({
    directoryKinds,
    begin: () =>
      Math.max(fresh.newest(scope.workspaceId), event?.sequence ?? 0) || lastSequence(store, scope),
  });
}
