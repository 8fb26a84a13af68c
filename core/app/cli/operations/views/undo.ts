// Displays undos: what was reverted, and what was skipped because others changed it since.
import { displayValue } from './runs.ts';

interface Undone {
  readonly kind: string;
  readonly id: string;
  readonly issue: { readonly id: string; readonly identifier: string | null } | null;
}

interface Undo {
  readonly id: string | null;
  readonly undid: readonly string[];
  readonly changes: readonly (Undone & {
    readonly action: 'update' | 'remove' | 'restore';
    readonly fields: readonly { readonly field: string; readonly from: unknown; readonly to: unknown }[];
  })[];
  readonly skipped: readonly (Undone & {
    readonly field: string | null;
    readonly reason: string;
    readonly ranSet: unknown;
    readonly now: unknown;
    readonly changedBy: { readonly name: string } | null;
  })[];
  readonly message: string;
}

export function undoView({ id, undid, changes, skipped, message }: Undo, isTried: boolean): string {
  return [
    message,
    ...changes.flatMap(changeLines),
    ...(skipped.length > 0 ? ['skipped:', ...skipped.map(skippedLine)] : []),
    ...(isTried && changes.length > 0
      ? [`Run the command without --dry-run to apply this, for ${undid.join(', ')}.`]
      : []),
    ...(id === null || isTried ? [] : [`Revert this with \`tatami undos undo ${id}\`.`]),
  ].join('\n');
}

function changeLines({ action, fields, ...object }: Undo['changes'][number]): string[] {
  if (action !== 'update') return [`  ${action} ${nameOf(object)}`];
  return fields.map(
    ({ field, from, to }) => `  ${nameOf(object)}  ${field}: ${displayValue(from)} → ${displayValue(to)}`,
  );
}

function skippedLine({ field, reason, ranSet, now, changedBy, ...object }: Undo['skipped'][number]): string {
  const values =
    field === null ? '' : `  ${field}: was set to ${displayValue(ranSet)}, is ${displayValue(now)}`;
  const by = changedBy === null ? '' : ` by ${changedBy.name}`;
  return `  ${nameOf(object)}${values}  (${reason.replaceAll('_', ' ')}${by})`;
}

/** `issue ENG-12`, `comment com_… on ENG-12`. */
function nameOf({ kind, id, issue }: Undone): string {
  const identifier = issue?.identifier ?? issue?.id;
  const noun = kind.replaceAll('_', ' ');
  if (identifier === undefined) return `${noun} ${id}`;
  return kind === 'issue' ? `${noun} ${identifier}` : `${noun} ${id} on ${identifier}`;
}
