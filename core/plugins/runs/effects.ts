// What a run did to each entity. Of one that wrote, the values are in its events; of one in mode `simulate` they are here: before and
// after, as the API shows them.
import type { Change } from '../../changes/change.ts';
import { isoTime } from '../../changes/operations.ts';
import { sameValue } from '../../changes/change.ts';
import type { Committer } from '../../changes/commit.ts';
import { cutText, cutValues, valueCharsMax, valuesOf, type Values } from '../../changes/diff.ts';
import type { Directory } from '../../context.ts';
import type { Scope, Store } from '../../store/store.ts';
import { oneOffKindName, type OneOff } from '../once/entries.ts';
import { findEntry, kvKindName, type KvEntry } from '../kv/entries.ts';

export interface Effect {
  readonly kind: string;
  readonly id: string;
  readonly action: 'create' | 'update';
  /** Names of what changes of an existing entity. */
  readonly fields: readonly string[];
  /** Absent where the run wrote, and where there would be more than a record may hold. */
  readonly values?: Values;
}

/** Characters of all values of a run. */
const runCharsMax = 64 * 1024;

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
  const valuesOfOne = async (change: Change): Promise<Values> => {
    if (change.kind === kvKindName) return keptValues(store, at.scope, change.after as KvEntry);
    if (change.kind === oneOffKindName) return oneOffValues(change);
    return cutValues(valuesOf(change, shown.get(change) ?? {}));
  };
  const effects: Effect[] = [];
  let chars = 0;
  for (const change of changes) {
    const values = await valuesOfOne(change);
    chars += JSON.stringify(values).length;
    effects.push({ ...effectOf(change), ...(chars <= runCharsMax ? { values } : {}) });
  }
  return effects;
}

async function keptValues(
  store: Store,
  scope: Scope,
  { installId, key, valueJson }: KvEntry,
): Promise<Values> {
  const before = await findEntry(store, scope, installId, key);
  return { [key]: { before: parsed(before?.valueJson ?? null), after: parsed(valueJson) } };
}

function oneOffValues({ before, after }: Change): Values {
  const at = ({ dueAt }: OneOff): string | null => isoTime(dueAt);
  return { [(after as OneOff).name]: { before: before && at(before as OneOff), after: at(after as OneOff) } };
}

function parsed(json: string | null): unknown {
  if (json === null) return null;
  return json.length > valueCharsMax ? cutText(json) : (JSON.parse(json) as unknown);
}
