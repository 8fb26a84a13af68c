// Decides which reads of an attempt are tracked, by the isolation in the manifest. docs/spec/plugins.md › Isolation.
import { ReadSet } from '../../changes/reads.ts';
import { contracts } from '../../contracts.ts';
import type { EventRow } from '../../events/event.ts';
import { lastSequence } from '../../events/log.ts';
import type { Scope } from '../../store/store.ts';
import type { Install } from '../installs/schema.ts';
import type { AttemptOptions } from './attempt.ts';

const directoryModels: ReadonlySet<string> = new Set(
  contracts.flatMap(({ name, directory }) => (directory ? [name] : [])),
);

/**
 * Returns null for a plugin without isolation. The set starts at the newest log sequence in this process,
 * which is committed, so all reads include it. If the log is already longer, the commit checks more changes
 * than necessary.
 */
export function readSetOf(
  { fresh, store }: Pick<AttemptOptions, 'fresh' | 'store'>,
  scope: Scope,
  { manifest }: Install,
  event: EventRow | undefined,
): ReadSet | null {
  if (manifest.isolation === 'none') return null;
  return new ReadSet({
    directoryModels,
    begin: () =>
      Math.max(fresh.newest(scope.workspaceId), event?.sequence ?? 0) || lastSequence(store, scope),
  });
}
