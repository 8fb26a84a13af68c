// Declares what the entity cache may hold, and the rows that each value depends on.
import { effectOf, type Effect } from '../../platform/store/effects.ts';
import type { Params, Statement } from '../../platform/store/statement.ts';

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
   * Returns the frozen value that a read returns after the commit of a change; undefined if only a read can tell.
   * @param left value as the change has it, with its commit-assigned value
   */
  settle?(left: V): V | undefined;
  /** Returns the characters of the texts of a value; default: counts them at any depth. */
  characters?(value: V): number;
  /** Field with the commit-assigned value, which is null in a change that waits for it. */
  readonly assigned?: string | null;
  /** Sources of lists, by the same key, that are empty when the entity is created. */
  readonly lists: AnySource[];
  /** Entity of a list; undefined for other values. */
  readonly of?: AnySource;
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
  parts: Omit<Source<V>, 'number' | 'lists'> = {},
): Source<V> {
  const source: Source<V> = { ...parts, number: sources++, lists: [] };
  for (const dependency of dependencies) {
    const known = dependents.get(dependency.table) ?? [];
    dependents.set(dependency.table, [...known, { ...dependency, source: source as AnySource }]);
  }
  return source;
}

/**
 * Declares lists of the rows that belong to an entity, by its id: such as the ids of its subscribers. A list does not follow changes of
 * its rows other than of the column.
 * @param column column with the id of the entity
 */
export function defineList<V>(of: AnySource | null, table: string, column: string): Source<readonly V[]> {
  const dependencies = [{ table, key: column, columns: new Set([column]) }];
  const list = defineSource<readonly V[]>(dependencies, of ? { of } : {});
  of?.lists.push(list as AnySource);
  return list;
}

type Amend = (value: never, params: Params) => unknown;

/** Amendments by statement. */
const amendments = new WeakMap<Statement<unknown>, { readonly source: AnySource; readonly amend: Amend }>();

/**
 * Declares how a statement changes a cached value, so that it need not be read again. It applies to ops that expect one row.
 * @param amend returns the value that a read returns after the statement
 */
export function amends<V>(
  statement: Statement<unknown>,
  source: AnySource | null,
  amend: (value: V, params: Params) => V,
): void {
  if (source) amendments.set(statement, { source, amend });
}

/** Values that a statement may change: the one with the key in a parameter, or all values of a workspace or of the installation. */
interface Target {
  readonly source: AnySource;
  readonly workspaceParam: string | undefined;
  readonly keyParam: string | undefined;
  readonly amend: Amend | null;
}

const targets = new WeakMap<
  Statement<unknown>,
  { readonly sources: number; readonly found: readonly Target[] }
>();

/** Returns the values that a statement may change. */
export function targetsOf(statement: Statement<unknown>): readonly Target[] {
  const known = targets.get(statement);
  if (known?.sources === sources) return known.found;
  const found = findTargets(statement);
  targets.set(statement, { sources, found });
  return found;
}

function findTargets(statement: Statement<unknown>): readonly Target[] {
  const effect = effectOf(statement);
  if (!effect) return [];
  const amendment = amendments.get(statement);
  return (dependents.get(effect.table) ?? [])
    .filter((dependent) => matters(dependent, effect))
    .map(({ source, key }) => ({
      source,
      workspaceParam: effect.keys.get('workspace_id'),
      keyParam: key === null ? undefined : effect.keys.get(key),
      amend: amendment?.source === source ? amendment.amend : null,
    }));
}

function matters({ columns, ignoresInserts }: Dependency, effect: Effect): boolean {
  if (effect.kind === 'insert') return !ignoresInserts;
  return effect.columns === null || [...effect.columns].some((column) => columns.has(column));
}

/** Counts the characters of texts at any depth. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  let characters = 0;
  for (const name in value) characters += charactersOf((value as Record<string, unknown>)[name]);
  return characters;
}

/** Freezes a value at any depth. */
export function frozen<V>(value: V): V {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
  for (const name in value) {
    const inner = value[name];
    if (typeof inner === 'object' && inner !== null) frozen(inner);
  }
  return Object.freeze(value);
}
