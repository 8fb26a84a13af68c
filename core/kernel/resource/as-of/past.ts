// Past states for runs that read the log in order. The directory is rebuilt only after an event that changed
// its contents, so most states need no read.
import type { Entity } from '../../changes/change.ts';
import type { Past } from '../../changes/read/past.ts';
import type { Context, Directory } from '../../context.ts';
import type { Contract } from '../../contract/contract.ts';
import { contracts } from '../../../features/contracts.ts';
import type { EventRow } from '../../events/event.ts';
import { directoryAt } from './names.ts';
import { isSubject, objectsAt, partsAt, wasOf, type Was } from './objects.ts';

const byName: ReadonlyMap<string, Contract> = new Map(contracts.map((contract) => [contract.name, contract]));

/** Returns true for an entity of the directory, whose changes may alter names that other objects show. */
export const isNaming = (kind: string): boolean => byName.get(kind)?.directory !== undefined;

export interface SeenPast extends Past {
  /** Returns the number of calls of `responses` so far. */
  readonly answered: () => number;
}

export interface Pasts {
  /** Returns the state right after an event. */
  at(event: EventRow): Promise<SeenPast>;
  /**
   * Invalidates the cached directory, so that the next `at` rebuilds it. Must be called after an object is
   * renamed.
   */
  moved(): void;
}

/** @param contextNow returns the context of the reader, with the current directory */
export function createPasts(contextNow: () => Promise<Context>): Pasts {
  let known: Directory | null = null;
  return {
    moved: () => void (known = null),
    async at(event) {
      const moment = { sequence: event.sequence, atMs: event.createdAt };
      const ctx = await contextNow();
      const directory = (known ??= await directoryAt(ctx, moment));
      const answered = new Map<string, Promise<Was | undefined>>();
      const own = byName.get(event.entityKind);
      if (own && isSubject(own)) answered.set(event.entityId, Promise.resolve(wasOf(own, event)));
      let count = 0;
      return {
        ...moment,
        directory,
        answered: () => count,
        async responses(kind, now) {
          const contract = byName.get(kind);
          if (!contract) return null;
          count++;
          const unread = now.filter(({ id }) => !answered.has(id));
          if (unread.length > 0) {
            const were = readOf(ctx, contract, unread, moment);
            for (const { id } of unread)
              answered.set(
                id,
                were.then((all) => all.get(id)),
              );
          }
          const all = await Promise.all(now.map(({ id }) => answered.get(id) ?? Promise.resolve(undefined)));
          return new Map(all.flatMap((was) => (was ? [[was.id, was] as const] : [])));
        },
      };
    },
  };
}

/** Events of an object that belongs to an issue are in the history of the issue. */
function readOf(
  ctx: Context,
  contract: Contract,
  now: readonly Entity[],
  moment: { readonly sequence: number; readonly atMs: number },
): Promise<ReadonlyMap<string, Was>> {
  if (isSubject(contract))
    return objectsAt(
      ctx,
      contract,
      now.map(({ id }) => id),
      moment,
    );
  const issueIds = now.flatMap((one: Entity & { readonly issueId?: string | null }) => one.issueId ?? []);
  if (issueIds.length === 0)
    return objectsAt(
      ctx,
      contract,
      now.map(({ id }) => id),
      moment,
    );
  return partsAt(ctx, contract, [...new Set(issueIds)], moment);
}
