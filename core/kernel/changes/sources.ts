// Declares what the entity cache may hold, and the rows that each value depends on.
import type { Effect } from '../../platform/store/effects.ts';
import type { Op } from '../../platform/store/store.ts';

/** Rows on which the values of a source depend. */
export interface Dependency {
  readonly table: string;
  /** Column with the key of the value; null if a row may concern any value of its workspace. */
  readonly key: string | null;
  /** Columns that an update must change to matter. */
  readonly columns: ReadonlySet<string>;
  /** True if no value depends on a row that did not exist when the value was read. */
  readonly ignoresInserts?: true;
}

/** Values that the cache may hold, each by a key within its workspace. */
export interface Source<V> {
  /** Distinguishes sources in the keys of the cache. */
  readonly number: number;
  /**
   * Returns the value that a read returns after the commit of a change; undefined if only a read can tell.
   * @param left value as the change has it, with its commit-assigned value
   */
  settle?(left: V): V | undefined;
  /** Field with the commit-assigned value, which is null in a change that waits for it. */
  readonly assigned?: string | null;
  /** Sources of lists, by the same key, that are empty when the entity is created. */
  readonly lists: Source<readonly unknown[]>[];
}

export type AnySource = Source<never>;

interface Dependent extends Dependency {
  readonly source: AnySource;
}

/** Sources by the tables that they depend on. Bounded, because only code adds entries. */
const dependents = new Map<string, Dependent[]>();
let sources = 0;

/** Declares a source. Call once per source, while the program loads. */
export function defineSource<V>(
  dependencies: readonly Dependency[],
  parts: Pick<Source<V>, 'settle' | 'assigned'> = {},
): Source<V> {
  const source: Source<V> = { ...parts, number: sources++, lists: [] };
  for (const dependency of dependencies) {
    const known = dependents.get(dependency.table) ?? [];
    dependents.set(dependency.table, [...known, { ...dependency, source: source as AnySource }]);
  }
  return source;
}

/** Values that a write may have changed: one value of a source, or all values of a workspace or of the installation. */
interface Written {
  readonly source: AnySource;
  readonly workspaceId: string | null;
  readonly key: string | null;
}

/** Returns the values that an op may have changed. */
export function writtenBy({ params, scope }: Op, effect: Effect): Written[] {
  const written: Written[] = [];
  for (const dependent of dependents.get(effect.table) ?? []) {
    if (!matters(dependent, effect)) continue;
    const of = (column: string | null): string | null => {
      const param = column === null ? undefined : effect.keys.get(column);
      return param === undefined ? null : String(params[param]);
    };
    const workspaceId = scope?.workspaceId ?? of('workspace_id');
    written.push({ source: dependent.source, workspaceId, key: of(dependent.key) });
  }
  return written;
}

function matters({ columns, ignoresInserts }: Dependency, effect: Effect): boolean {
  if (effect.kind === 'insert') return !ignoresInserts;
  return effect.columns === null || [...effect.columns].some((column) => columns.has(column));
}
