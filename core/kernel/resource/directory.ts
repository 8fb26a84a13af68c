// Directory of a workspace: small objects, such as teams and labels, in memory by id, because every response
// and validation needs them. Contracts define which objects and fields the directory contains.
import type { Change } from '../changes/change.ts';
import type { AnyModel } from '../changes/model.ts';
import type { Section } from '../changes/workspace-cache.ts';
import { contracts, type Directory } from '../../features/contracts.ts';
import { tenantStatement, type SqlRow } from '../../platform/store/statement.ts';
import type { Scope, Store } from '../../platform/store/store.ts';

export type DirectoryEntry = { readonly id: string; readonly removed?: boolean } & Readonly<
  Record<string, unknown>
>;
type Entries = ReadonlyMap<string, DirectoryEntry>;

interface SectionFacts {
  readonly as: string;
  readonly entryFields: readonly string[];
  readonly withDeleted: boolean;
}

/** Sections by name of the contract. */
const sections: ReadonlyMap<string, SectionFacts> = new Map(
  contracts.flatMap(({ name, directory }) =>
    directory ? [[name, { ...directory, withDeleted: directory.withDeleted ?? false }] as const] : [],
  ),
);

// The compiler cannot derive the types of sections from contracts, so only this file builds and reads them
// with casts.
const assembled = (parts: Readonly<Record<string, Entries>>): Directory => parts as unknown as Directory;

export const emptyDirectory: Directory = assembled(
  Object.fromEntries([...sections.values()].map(({ as }) => [as, new Map()])),
);

/** Returns all entries of a contract, by id. @throws Error for a contract that is not in the directory */
export function entriesOf(
  directory: Directory,
  { name, directory: section }: { readonly name: string; readonly directory?: { readonly as: string } },
): Entries {
  const parts: Readonly<Record<string, unknown>> = directory;
  const entries = section && parts[section.as];
  if (!entries) throw new Error(`Objects of ${name} are not in the directory.`);
  return entries as Entries;
}

export interface DirectoryLoader {
  readonly as: string;
  load(store: Store, scope: Scope): Promise<Entries>;
}

/** Returns undefined for a model that is not in the directory. Must be called once for each model. */
export function directoryLoaderOf(model: AnyModel): DirectoryLoader | undefined {
  const facts = sections.get(model.name);
  if (!facts) return undefined;
  const { as, entryFields, withDeleted } = facts;
  const fields = model.pick([...entryFields, ...(model.retainsDeleted ? ['deletedAt'] : [])]);
  const where = model.retainsDeleted && !withDeleted ? ' AND deleted_at IS NULL' : '';
  const statement = tenantStatement<SqlRow>(
    `directory.${as}`,
    `SELECT ${fields.select} FROM ${model.table} WHERE workspace_id = :ws${where} ORDER BY created_at, id`,
  );
  return {
    as,
    async load(store, scope) {
      const rows = await store.read(scope, statement);
      return new Map(rows.map((row) => [String(row.id), entryOf(facts, fields.read(row))]));
    },
  };
}

export function directorySection(store: Store, loaders: readonly DirectoryLoader[]): Section<Directory> {
  return {
    kinds: new Set(sections.keys()),
    async load(scope) {
      const parts = loaders.map(async ({ as, load }) => [as, await load(store, scope)] as const);
      return assembled(Object.fromEntries(await Promise.all(parts)));
    },
    move: directoryAfter,
  };
}

function entryOf({ entryFields, withDeleted }: SectionFacts, entity: object): DirectoryEntry {
  const fields = entity as Readonly<Record<string, unknown>>;
  const entry: Record<string, unknown> & { id: string } = { id: String(fields.id) };
  for (const name of entryFields) entry[name] = fields[name];
  if (withDeleted) entry.removed = fields.deletedAt !== null;
  return entry;
}

/** Returns the directory after the commit of `changes`; the same object if they do not affect it. */
export function directoryAfter(directory: Directory, changes: readonly Change[]): Directory {
  const concerned = changes.filter(({ kind }) => sections.has(kind));
  if (concerned.length === 0) return directory;
  const parts: Record<string, Map<string, DirectoryEntry>> = {};
  for (const { kind, id, after } of concerned) {
    const facts = sections.get(kind)!;
    const before = entriesOf(directory, { name: kind, directory: facts });
    const entries = (parts[facts.as] ??= new Map(before));
    const isGone = 'deletedAt' in after && after.deletedAt !== null && !facts.withDeleted;
    if (isGone) entries.delete(id);
    else entries.set(id, entryOf(facts, after));
  }
  return { ...directory, ...parts };
}
