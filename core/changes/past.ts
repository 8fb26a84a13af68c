// A past moment that a run sees in place of the present: objects are found in the state that the log has for that moment. A staging
// without one has no overhead.
import type { Directory } from '../context.ts';
import type { Entity } from './change.ts';

type Wire = Readonly<Record<string, unknown>>;

export interface Past {
  /** Sequence of the last event that counts. */
  readonly sequence: number;
  readonly atMs: number;
  /** Names and settings of that moment. */
  readonly directory: Directory;
  /** Returns objects as they were shown then, by id, without those that did not exist; null if the log does not have them. */
  responses(model: string, now: readonly Entity[]): Promise<ReadonlyMap<string, Wire> | null>;
}

/** Returns the past row from the present row and the object as it was shown. */
export type AsItWas<E> = (now: E, was: Wire, directory: Directory) => E;

/** Returns the rows as the run sees them, in the same order; undefined for an object that did not exist. */
export async function asThen<E extends Entity>(
  past: Past | null,
  model: { readonly name: string; readonly asItWas: AsItWas<E> | undefined },
  now: readonly E[],
): Promise<readonly (E | undefined)[]> {
  if (past === null || now.length === 0 || !model.asItWas) return now;
  const were = await past.responses(model.name, now);
  if (were === null) return now;
  const { asItWas } = model;
  return now.map((entity) => {
    const was = were.get(entity.id);
    if (was) return asItWas(entity, was, past.directory);
    // For an object without events only the time of its creation is known.
    return isOlder(entity, past) ? entity : undefined;
  });
}

function isOlder(entity: Entity & { readonly createdAt?: number }, { atMs }: Past): boolean {
  return (entity.createdAt ?? Number.POSITIVE_INFINITY) < atMs;
}
