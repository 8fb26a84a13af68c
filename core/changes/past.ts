// A moment of the past that a run sees in place of now: what is found of an object is what the log says it was then. Whoever stages
// without one pays nothing for it.
import type { Directory } from '../context.ts';
import type { Entity } from './change.ts';

type Wire = Readonly<Record<string, unknown>>;

export interface Past {
  /** The last event that counts. */
  readonly sequence: number;
  readonly atMs: number;
  /** The names and the settings of then. */
  readonly directory: Directory;
  /** Objects of a kind as they were shown then, by id; those that were not there are left out. Null for what the log cannot tell. */
  shown(kind: string, now: readonly Entity[]): Promise<ReadonlyMap<string, Wire> | null>;
}

/** The row as it was, from the row as it is and the object as it was shown. */
export type AsItWas<E> = (now: E, was: Wire, directory: Directory) => E;

/** The rows as a run sees them, each where it stood; undefined for what was not there. */
export async function asThen<E extends Entity>(
  past: Past | null,
  kind: { readonly name: string; readonly asItWas: AsItWas<E> | undefined },
  now: readonly E[],
): Promise<readonly (E | undefined)[]> {
  if (past === null || now.length === 0 || !kind.asItWas) return now;
  const were = await past.shown(kind.name, now);
  if (were === null) return now;
  const { asItWas } = kind;
  return now.map((entity) => {
    const was = were.get(entity.id);
    if (was) return asItWas(entity, was, past.directory);
    // Of what no event tells, it is known when it was made.
    return isOlder(entity, past) ? entity : undefined;
  });
}

function isOlder(entity: Entity & { readonly createdAt?: number }, { atMs }: Past): boolean {
  return (entity.createdAt ?? Number.POSITIVE_INFINITY) < atMs;
}
