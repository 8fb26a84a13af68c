// Objects of the directory by what people call them, in any case. Looked up once for each version of a section.
import { foldName } from '../lib/fold.ts';
import type { DirectoryEntry } from './directory.ts';

type Entries = ReadonlyMap<string, DirectoryEntry>;
type Index = ReadonlyMap<string, readonly string[]>;

const indexes = new WeakMap<Entries, Map<string, Index>>();
const nobody: readonly string[] = [];

/** The ids of the objects that have a name: several may. */
export function idsNamed(entries: Entries, property: string, name: string): readonly string[] {
  const known = indexes.get(entries) ?? new Map<string, Index>();
  indexes.set(entries, known);
  const index = known.get(property) ?? indexOf(entries, property);
  known.set(property, index);
  return index.get(foldName(name)) ?? nobody;
}

function indexOf(entries: Entries, property: string): Index {
  const index = new Map<string, string[]>();
  for (const entry of entries.values()) {
    const name = foldName(String(entry[property]));
    const ids = index.get(name);
    if (ids) ids.push(entry.id);
    else index.set(name, [entry.id]);
  }
  return index;
}
