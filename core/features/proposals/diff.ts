// Computes the effects of the writes of a proposal, and compares two diffs.
import {
  type Change,
  actionOf,
  digestOf,
  displayChanges,
  valuesOf,
  issueOf,
  nameOf,
} from '../../kernel/changes/change.ts';
import type { Committer } from '../../kernel/changes/commit.ts';
import type { StagedWrite } from '../../kernel/changes/staging.ts';
import type { Directory } from '../../kernel/context.ts';
import { capital } from '../../platform/lib/text/words.ts';
import type { EffectClass } from './contract.ts';
import type { StoredEffect } from './model.ts';

export interface Differ {
  readonly committer: Committer;
  readonly directory: Directory;
  /** Period in which the writes were planned, ms since the epoch. */
  readonly planned: { readonly since: number; readonly until: number };
}

/** Writes of the plugin's own values are not effects; they are applied with each approval. */
export function diffOf(
  writes: readonly StagedWrite[],
  { committer, directory, planned }: Differ,
): StoredEffect[] {
  const previewed = committer.preview(
    directory,
    writes.flatMap(({ changes }) => changes.filter(({ isSilent }) => !isSilent)),
  );
  const effects: StoredEffect[] = [];
  for (const [write, { operation, changes }] of writes.entries())
    for (const change of changes) {
      const eventData = previewed.get(change);
      if (!eventData) continue;
      const values = valuesOf(change, eventData);
      const { id: issueId, identifier: issue } = issueOf(change, eventData);
      effects.push({
        id: String(effects.length + 1),
        write,
        operation,
        kind: change.kind,
        entityId: change.id,
        name: nameOf(change, eventData),
        issue,
        issueId,
        class: classOf(change),
        values: displayChanges(change.kind, values, whole),
        digest: digestOf(values, planned),
        baseVersion: change.baseVersion,
        decision: null,
      });
    }
  return effects;
}

export function classOf(change: Change): EffectClass {
  const does = actionOf(change);
  return change.kind === 'comment' && does !== 'delete' ? 'comment' : does;
}

/** Returns true if both diffs change the same objects from the same values to the same values. */
export function isSameDiff(previewed: readonly StoredEffect[], now: readonly StoredEffect[]): boolean {
  const facts = ({ operation, kind, entityId, class: does, digest }: StoredEffect): string =>
    [operation, kind, entityId, does, digest].join(' ');
  return (
    previewed.length === now.length && previewed.every((effect, at) => facts(effect) === facts(now[at]!))
  );
}

/** Values are not shortened, because an approval writes them. */
const whole = (value: unknown): unknown => value ?? null;

export function titleOf(effects: readonly StoredEffect[], by: string | null): string {
  const [first] = effects;
  if (!first) return 'Nothing';
  const { class: does, values } = first;
  const what = does === 'comment' ? `comment${onIssue(first)}` : `${does} ${objectOf(first)}`;
  const fields = does === 'update' ? `: ${Object.keys(values).join(', ')}` : '';
  const more = effects.length > 1 ? `, and ${effects.length - 1} more` : '';
  const text = `${what}${fields}${more}`;
  return by === null ? capital(text) : `${by}: ${text}`;
}

function objectOf(effect: StoredEffect): string {
  const { kind, name } = effect;
  return `${kind.replaceAll('_', ' ')}${name ? ` ${name}` : ''}${onIssue(effect)}`;
}

/** Returns no text for an issue or a relation, whose name identifies the issue already. */
function onIssue({ kind, issue }: StoredEffect): string {
  return issue === null || kind === 'issue' || kind === 'relation' ? '' : ` on ${issue}`;
}
