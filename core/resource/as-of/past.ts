// Moments of the past that runs see, one after the other along the log. The directory of a moment is made again only behind an event
// that changed what it holds, so that a moment costs nothing by itself.
import type { Entity } from '../../changes/change.ts';
import type { Past } from '../../changes/past.ts';
import type { Context, Directory } from '../../context.ts';
import type { Contract } from '../../contract/contract.ts';
import { contracts } from '../../contracts.ts';
import type { EventRow } from '../../events/event.ts';
import { directoryAt } from './names.ts';
import { isSubject, objectsAt, partsAt, wasOf, type Was } from './objects.ts';

const byName: ReadonlyMap<string, Contract> = new Map(contracts.map((contract) => [contract.name, contract]));

/** Whether an event of the kind may change the names that others are shown with. */
export const isNaming = (kind: string): boolean => byName.get(kind)?.directory !== undefined;

export interface SeenPast extends Past {
  /** How often the log told what was asked. */
  readonly told: () => number;
}

export interface Pasts {
  /** The moment behind an event, which tells how its own object was. */
  at(event: EventRow): Promise<SeenPast>;
  /** What others are named by was changed: the next moment looks again. */
  moved(): void;
}

/** @param contextNow who reads, with the directory of now */
export function createPasts(contextNow: () => Promise<Context>): Pasts {
  let known: Directory | null = null;
  return {
    moved: () => void (known = null),
    async at(event) {
      const moment = { sequence: event.sequence, atMs: event.createdAt };
      const ctx = await contextNow();
      const directory = (known ??= await directoryAt(ctx, moment));
      const told = new Map<string, Promise<Was | undefined>>();
      const own = byName.get(event.entityKind);
      if (own && isSubject(own)) told.set(event.entityId, Promise.resolve(wasOf(own, event)));
      let count = 0;
      return {
        ...moment,
        directory,
        told: () => count,
        async shown(kind, now) {
          const contract = byName.get(kind);
          if (!contract) return null;
          count++;
          const asked = now.filter(({ id }) => !told.has(id));
          if (asked.length > 0) {
            const were = readOf(ctx, contract, asked, moment);
            for (const { id } of asked)
              told.set(
                id,
                were.then((all) => all.get(id)),
              );
          }
          const all = await Promise.all(now.map(({ id }) => told.get(id) ?? Promise.resolve(undefined)));
          return new Map(all.flatMap((was) => (was ? [[was.id, was] as const] : [])));
        },
      };
    },
  };
}

/** Events of what belongs to an issue stand in the issue's history. */
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
