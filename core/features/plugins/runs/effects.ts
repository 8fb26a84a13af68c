// Records the effects of a run on each entity and their outcome. The values of applied effects are in the
// events; proposed and simulated effects contain their values before and after, as the API shows them.
import {
  type Change,
  sameValue,
  actionOf,
  cutText,
  displayChanges,
  valueCharsMax,
  valuesOf,
  type ChangeAction,
  type FieldChanges,
  nameOf,
} from '../../../kernel/changes/change.ts';
import { isoTime } from '../../../kernel/changes/operations.ts';
import type { Directory } from '../../../kernel/context.ts';
import type { Scope, Store } from '../../../platform/store/store.ts';
import type { PluginDeps } from '../deps.ts';
import { apiNamesOf } from '../undo/models.ts';
import { oneTimeJobModelName, type OneTimeJob } from '../schedules/one-time-jobs.ts';
import { findEntry, kvModelName, type KvEntry } from '../kv/entries.ts';

/** `dropped` is the outcome of a failed run. */
export const effectOutcomes = ['applied', 'proposed', 'simulated', 'dropped'] as const;
export type EffectOutcome = (typeof effectOutcomes)[number];

export interface RunEffect {
  readonly kind: string;
  readonly id: string;
  readonly action: ChangeAction;
  /** Changed fields of an existing entity. */
  readonly fields: readonly string[];
  /** Absent for trials, which write nothing. */
  readonly outcome?: EffectOutcome;
  /** Display name of the object, if there are `values`. */
  readonly name?: string | null;
  /** Present for proposed and simulated effects and for trials, up to the size limit of a record. */
  readonly values?: FieldChanges;
}

/** Limit of characters of all values of a run. */
const runCharsMax = 64 * 1024;

export function effectOf(change: Change, outcome?: EffectOutcome): RunEffect {
  const { kind, id, before, after } = change;
  const old = before as Readonly<Record<string, unknown>> | null;
  const fields = Object.entries(after)
    .filter(
      ([name, value]) =>
        old !== null && !['version', 'updatedAt'].includes(name) && !sameValue(old[name], value),
    )
    .map(([name]) => name);
  const fieldNames = apiNamesOf(kind, fields);
  return { kind, id, action: actionOf(change), fields: fieldNames, ...(outcome ? { outcome } : {}) };
}

/**
 * Returns the effects of unwritten changes, with their values.
 * @param outcomeOf returns the outcome of a change; absent for a trial
 */
export async function previewEffects(
  { committer, services: { store } }: PluginDeps,
  at: { readonly scope: Scope; readonly directory: Directory },
  changes: readonly Change[],
  outcomeOf?: (change: Change) => EffectOutcome,
): Promise<RunEffect[]> {
  const previews = committer.preview(at.directory, changes);
  const valuesOfOne = async (change: Change): Promise<FieldChanges> => {
    if (change.kind === kvModelName) return kvValues(store, at.scope, change.after as KvEntry);
    if (change.kind === oneTimeJobModelName) return oneTimeJobValues(change);
    return displayChanges(change.kind, valuesOf(change, previews.get(change) ?? {}));
  };
  const effects: RunEffect[] = [];
  let chars = 0;
  for (const change of changes) {
    const values = await valuesOfOne(change);
    chars += JSON.stringify(values).length;
    const name = ownName(change) ?? nameOf(change, previews.get(change) ?? {});
    effects.push({
      ...effectOf(change, outcomeOf?.(change)),
      ...(chars <= runCharsMax ? { name, values } : {}),
    });
  }
  return merged(effects);
}

/** Merges the writes to an object with the same outcome into one effect. */
function merged(effects: readonly RunEffect[]): RunEffect[] {
  const byObject = new Map<string, RunEffect>();
  for (const effect of effects) {
    const key = `${effect.outcome} ${effect.kind} ${effect.id}`;
    const earlier = byObject.get(key);
    byObject.set(key, earlier ? followed(earlier, effect) : effect);
  }
  return [...byObject.values()];
}

function followed(earlier: RunEffect, later: RunEffect): RunEffect {
  const action = later.action === 'update' ? earlier.action : later.action;
  const fields = earlier.action === 'create' ? [] : [...new Set([...earlier.fields, ...later.fields])];
  if (!earlier.values || !later.values) return { ...earlier, action, fields };
  const values = { ...earlier.values };
  for (const [name, { before, after }] of Object.entries(later.values))
    values[name] = { before: values[name] ? values[name].before : before, after };
  return { ...earlier, action, fields, values };
}

async function kvValues(
  store: Store,
  scope: Scope,
  { installId, key, valueJson }: KvEntry,
): Promise<FieldChanges> {
  const before = await findEntry(store, scope, installId, key);
  return { [key]: { before: parsed(before?.valueJson ?? null), after: parsed(valueJson) } };
}

/**
 * Returns the name of a stored value or one-time job, whose changes have no events; null for other entities.
 */
function ownName({ kind, after }: Change): string | null {
  if (kind === kvModelName) return (after as KvEntry).key;
  return kind === oneTimeJobModelName ? (after as OneTimeJob).name : null;
}

function oneTimeJobValues({ before, after }: Change): FieldChanges {
  const at = ({ dueAt }: OneTimeJob): string | null => isoTime(dueAt);
  return {
    [(after as OneTimeJob).name]: {
      before: before && at(before as OneTimeJob),
      after: at(after as OneTimeJob),
    },
  };
}

function parsed(json: string | null): unknown {
  if (json === null) return null;
  return json.length > valueCharsMax ? cutText(json) : (JSON.parse(json) as unknown);
}
