// Past moments: the parameter `asOf` (docs/spec/api.md › As of), the rows of objects at a moment, and past
// states for runs.
import { type Static, Type } from 'typebox';
import { contracts } from '../../../features/contracts.ts';
import { invalidField, sequenceToCome, timeToCome } from '../../../platform/lib/errors/errors.ts';
import { Closed, described, namedSchema, time } from '../../../platform/lib/schema.ts';
import { isTime } from '../../../platform/lib/time/time.ts';
import type { Entity } from '../../changes/change.ts';
import type { AsItWas, Past } from '../../changes/find.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Context, Directory } from '../../context.ts';
import { type Contract, isRestorable } from '../../contract/contract.ts';
import type { Field } from '../../contract/field.ts';
import { isReference, storedName } from '../../contract/schemas.ts';
import type { EventRow } from '../../events/event.ts';
import { firstSequenceSince, lastSequence, timeOfEvent } from '../../events/log/log.ts';
import { entriesOf } from '../directory.ts';
import { idsByName } from '../names/names.ts';
import { directoryAt } from './names.ts';
import { isSubject, objectsAt, partsAt, type Was, wasOf } from './objects.ts';

export const asOfQuery = {
  asOf: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'Moment to read at: a sequence of the event log, or an ISO 8601 time; default now. `asOf` in the response has the sequence.',
    }),
  ),
};

export const AsOf = namedSchema(
  'AsOf',
  Closed(
    {
      sequence: Type.Integer({
        description: 'Sequence of the last event that the response takes into account.',
      }),
      at: described(time, 'Requested time, or time of that event.'),
    },
    { description: 'Moment that the response shows; absent if it shows the current state.' },
  ),
);

export interface Moment {
  /** Sequence of the last event up to the moment; 0 before the first event. */
  readonly sequence: number;
  readonly atMs: number;
}

export function toMomentResponse({ sequence, atMs }: Moment): Static<typeof AsOf> {
  return { sequence, at: isoTime(atMs) };
}

/**
 * Resolves a sequence or a time to a position in the log.
 * @throws ApiError validation_failed for an invalid moment, or one in the future
 */
export async function momentOf({ store, scope, nowMs }: Context, text: string): Promise<Moment> {
  if (/^\d{1,15}$/.test(text)) {
    const sequence = Number(text);
    const atMs = sequence === 0 ? 0 : await timeOfEvent(store, scope, sequence);
    if (atMs !== undefined) return { sequence, atMs };
    throw sequenceToCome('asOf', await lastSequence(store, scope));
  }
  if (!isTime(text))
    throw invalidField(
      'asOf',
      'invalid_format',
      'Give a sequence, or an ISO 8601 time such as 2026-11-20T12:00:00Z.',
    );
  const atMs = Date.parse(text);
  if (atMs > nowMs()) throw timeToCome('asOf', text);
  return {
    sequence: (await firstSequenceSince(store, scope, atMs + 1, await lastSequence(store, scope))) - 1,
    atMs,
  };
}

type Wire = Readonly<Record<string, unknown>>;

/**
 * Returns a function that reconstructs the past row of an object from its event: references by id, times in
 * milliseconds. Values that the event does not contain are taken from the current row.
 * @param more values that do not follow from the contract
 */
export function rowAsItWas<E extends Entity>(
  contract: Contract,
  more?: (was: Wire, directory: Directory) => Partial<E>,
): AsItWas<E> {
  const fields = Object.entries(contract.fields).filter(([, { options }]) => !options.computed);
  return (now, was, directory) => {
    const row: Record<string, unknown> = { ...(now as Entity) };
    for (const [name, field] of fields) if (name in was) setValue(row, name, field, was[name], directory);
    row.version = was.version ?? now.version;
    for (const time of ['createdAt', 'updatedAt']) row[time] = msOf(was[time]) ?? row[time];
    if (isRestorable(contract)) row.deletedAt = msOf(was.deletedAt);
    return { ...row, ...more?.(was, directory) } as E;
  };
}

function setValue(
  row: Record<string, unknown>,
  name: string,
  field: Field,
  value: unknown,
  directory: Directory,
): void {
  if (field.type === 'actor') {
    const { kind = null, id = null, name: called = null } = (value ?? {}) as Record<string, unknown>;
    Object.assign(row, { [`${name}Kind`]: kind, [`${name}Id`]: id, [`${name}Name`]: called });
  } else if (!isReference(field)) row[name] = field.type === 'time' ? msOf(value) : value;
  else if (value === null) row[storedName(name, field)] = null;
  else if (field.by === 'id') row[storedName(name, field)] = (value as { id: string }).id;
  else {
    const [id] = idsByName(entriesOf(directory, field.to), field.by, String(value));
    if (id !== undefined) row[storedName(name, field)] = id;
  }
}

function msOf(value: unknown): number | null {
  return typeof value === 'string' ? Date.parse(value) : null;
}

const byName: ReadonlyMap<string, Contract> = new Map(contracts.map((contract) => [contract.name, contract]));

/** Returns true for an entity of the directory, whose changes may alter names that other objects show. */
export const isNaming = (kind: string): boolean => byName.get(kind)?.directory !== undefined;

export interface SeenPast extends Past {
  /** Returns the number of calls of `responses` so far. */
  readonly answered: () => number;
}

/**
 * Past states for runs that read the log in order. The directory is rebuilt only after an event that changed
 * its contents, so most states need no read.
 */
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
      const own = byName.get(event.entityType);
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
