// What a run did to each entity. Of one that wrote, the values are in its events; of one in mode `simulate` they are here: before and
// after, as the API shows them.
import type { Change } from '../../changes/change.ts';
import { sameValue } from '../../changes/change.ts';
import type { Committer } from '../../changes/commit.ts';
import type { Directory } from '../../context.ts';
import { hidePending } from '../../events/learning.ts';
import type { Scope, Store } from '../../store/store.ts';
import { findEntry, kvKindName, type KvEntry } from '../kv/entries.ts';

interface Value {
  readonly before: unknown;
  readonly after: unknown;
}

export interface Effect {
  readonly kind: string;
  readonly id: string;
  readonly action: 'create' | 'update';
  /** Names of what changes of an existing entity. */
  readonly fields: readonly string[];
  /** Absent where the run wrote, and where there would be more than a record may hold. */
  readonly values?: Readonly<Record<string, Value>>;
}

/** Characters of one value, and of all values of a run. */
const valueCharsMax = 1_000;
const runCharsMax = 64 * 1024;
/** What every creation has, and nobody chose. */
const given = new Set(['id', 'version', 'createdAt', 'updatedAt']);

export function effectOf({ kind, id, before, after }: Change): Effect {
  const old = before as Readonly<Record<string, unknown>> | null;
  const fields = Object.entries(after)
    .filter(
      ([name, value]) =>
        old !== null && !['version', 'updatedAt'].includes(name) && !sameValue(old[name], value),
    )
    .map(([name]) => name);
  return { kind, id, action: old === null ? 'create' : 'update', fields };
}

export interface PreviewOptions {
  readonly store: Store;
  readonly committer: Pick<Committer, 'preview'>;
}

/** The effects of a run that writes nothing, with their values. */
export async function previewEffects(
  { store, committer }: PreviewOptions,
  at: { readonly scope: Scope; readonly directory: Directory },
  changes: readonly Change[],
): Promise<Effect[]> {
  const shown = committer.preview(at.directory, changes);
  const effects: Effect[] = [];
  let chars = 0;
  for (const change of changes) {
    const values =
      change.kind === kvKindName
        ? await keptValues(store, at.scope, change.after as KvEntry)
        : shownValues(change, shown.get(change) ?? {});
    chars += JSON.stringify(values).length;
    effects.push({ ...effectOf(change), ...(chars <= runCharsMax ? { values } : {}) });
  }
  return effects;
}

/** @param data of the event that the change would make */
function shownValues(change: Change, data: Readonly<Record<string, unknown>>): Record<string, Value> {
  const { previous, ...after } = hidePending(data) as Record<string, unknown>;
  if (change.before !== null)
    return Object.fromEntries(
      Object.entries((previous ?? {}) as Record<string, unknown>).map(([name, before]) => [
        name,
        { before: short(before), after: short(after[name]) },
      ]),
    );
  return Object.fromEntries(
    Object.entries(after)
      .filter(([name, value]) => !given.has(name) && !isNothing(value))
      .map(([name, value]) => [name, { before: null, after: short(value) }]),
  );
}

function isNothing(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

async function keptValues(
  store: Store,
  scope: Scope,
  { installId, key, valueJson }: KvEntry,
): Promise<Record<string, Value>> {
  const before = await findEntry(store, scope, installId, key);
  return { [key]: { before: parsed(before?.valueJson ?? null), after: parsed(valueJson) } };
}

function parsed(json: string | null): unknown {
  if (json === null) return null;
  return json.length > valueCharsMax ? cut(json) : (JSON.parse(json) as unknown);
}

/** The value, or the beginning of its text where that is long. */
export function short(value: unknown): unknown {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return text.length <= valueCharsMax ? (value ?? null) : cut(text);
}

function cut(text: string): string {
  return `${text.slice(0, valueCharsMax).toWellFormed()}…`;
}
