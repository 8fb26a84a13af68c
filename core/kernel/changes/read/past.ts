// Lets a run read objects as of a past moment, in the state that the log records.
import type { Directory } from '../../context.ts';
import type { Entity } from '../change.ts';

type Wire = Readonly<Record<string, unknown>>;

export interface Past {
  /** Sequence of the last event that the state includes. */
  readonly sequence: number;
  readonly atMs: number;
  /** Names and settings at that moment. */
  readonly directory: Directory;
  /**
   * Returns the past responses by id, without objects that did not exist; null if the log does not have them.
   */
  responses(model: string, now: readonly Entity[]): Promise<ReadonlyMap<string, Wire> | null>;
}

/** Returns the past row, derived from the present row and the past response. */
export type AsItWas<E> = (now: E, was: Wire, directory: Directory) => E;

/** Returns the rows at the past moment, in the same order; undefined for an object that did not exist. */
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
