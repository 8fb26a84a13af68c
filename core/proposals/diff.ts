// What the writes of a proposal would change, effect by effect, and whether two such diffs are the same.
import type { Change, Entity } from '../changes/change.ts';
import type { Committer } from '../changes/commit.ts';
import { cutValues, digestOf, removedValues, valuesOf } from '../changes/diff.ts';
import type { StagedWrite } from '../changes/staging.ts';
import type { Directory } from '../context.ts';
import { hidePending } from '../events/learning.ts';
import type { EffectClass } from './contract.ts';
import type { KeptEffect } from './kind.ts';

export interface Differ {
  readonly committer: Pick<Committer, 'preview'>;
  readonly directory: Directory;
  /** Between these times the writes were planned. */
  readonly planned: { readonly since: number; readonly until: number };
}

/** The plugin's own values are none of the effects: they go along with what is approved. */
export function diffOf(
  writes: readonly StagedWrite[],
  { committer, directory, planned }: Differ,
): KeptEffect[] {
  const shown = committer.preview(
    directory,
    writes.flatMap(({ changes }) => changes.filter(({ isSilent }) => !isSilent)),
  );
  const effects: KeptEffect[] = [];
  for (const [write, { operation, changes }] of writes.entries())
    for (const change of changes) {
      const told = shown.get(change);
      if (!told) continue;
      const data = hidePending(told) as Readonly<Record<string, unknown>>;
      const does = classOf(change);
      const values = does === 'delete' ? removedValues(data) : valuesOf(change, data);
      effects.push({
        id: String(effects.length + 1),
        ...{ write, operation, kind: change.kind, entityId: change.id },
        ...issueOf(change, data),
        class: does,
        values: cutValues(values),
        digest: digestOf(values, planned),
        baseVersion: change.baseVersion,
        decision: null,
      });
    }
  return effects;
}

export function classOf({ kind, before, after }: Pick<Change, 'kind' | 'before' | 'after'>): EffectClass {
  if (isDeleted(after) && !isDeleted(before)) return 'delete';
  if (kind === 'comment') return 'comment';
  return before === null ? 'create' : 'update';
}

function isDeleted(entity: (Entity & { readonly deletedAt?: number | null }) | null): boolean {
  return (entity?.deletedAt ?? null) !== null;
}

function issueOf(
  { kind, id }: Change,
  data: Readonly<Record<string, unknown>>,
): Pick<KeptEffect, 'issue' | 'issueId'> {
  const { id: issueId, identifier } = (kind === 'issue' ? { ...data, id } : (data.issue ?? {})) as {
    id?: string;
    identifier?: unknown;
  };
  return { issueId: issueId ?? null, issue: typeof identifier === 'string' ? identifier : null };
}

/** Whether the second does what the first shows: the same to the same objects, from the same values to the same. */
export function isSameDiff(shown: readonly KeptEffect[], now: readonly KeptEffect[]): boolean {
  const facts = ({ operation, kind, entityId, class: does, digest }: KeptEffect): string =>
    [operation, kind, entityId, does, digest].join(' ');
  return shown.length === now.length && shown.every((effect, at) => facts(effect) === facts(now[at]!));
}

/** In one line. */
export function titleOf(effects: readonly KeptEffect[], by: string | null): string {
  const [first] = effects;
  if (!first) return 'Nothing';
  const { kind, class: does, issue, values } = first;
  const { title } = values;
  const named = issue ?? (typeof title?.after === 'string' ? `“${title.after.slice(0, 80)}”` : '');
  const what =
    does === 'comment'
      ? `comment${named && ` on ${named}`}`
      : `${does} ${kind.replaceAll('_', ' ')}${named && ` ${named}`}`;
  const fields = does === 'update' ? `: ${Object.keys(values).join(', ')}` : '';
  const more = effects.length > 1 ? `, and ${effects.length - 1} more` : '';
  const text = `${what}${fields}${more}`;
  return by === null ? `${text[0]!.toUpperCase()}${text.slice(1)}` : `${by}: ${text}`;
}
