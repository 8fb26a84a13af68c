// Determines the mode of each write of a run, from the install's mode and its modes for classes and fields.
import type { Change } from '../../changes/change.ts';
import { makes, type Route } from '../../http/route.ts';
import type { StagedWrite } from '../../changes/staging.ts';
import { classOf } from '../../proposals/diff.ts';
import type { EffectClass } from '../../proposals/contract.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { Install } from '../installs/schema.ts';
import { effectOf } from '../runs/effects.ts';
import { fieldModesOf, apiFieldsOf, strictest, type ModeFields } from './mode-fields.ts';

/** True for a write that deletes something. Deletions need approval unless the install's modes say otherwise. */
export function isDeletion({ operation, changes }: Pick<StagedWrite, 'operation' | 'changes'>): boolean {
  return operation.endsWith('.delete') || changes.some((change) => classOf(change) === 'delete');
}

/**
 * @param route API route of the write; own calls have none
 * @param known fields that can have a mode
 */
export function modeOfWrite(
  { mode, modes }: Pick<Install, 'mode' | 'modes'>,
  write: StagedWrite,
  route: Route,
  known: ModeFields,
): InstallMode {
  const of = (name: EffectClass): InstallMode => modes[name] ?? mode;
  if (isDeletion(write)) return modes.delete ?? (mode === 'apply' ? 'propose' : mode);
  const byField = fieldModesOf(modes, known);
  // The mode of a field applies to every write that changes the field: moving a card on a board changes the
  // state of its issue.
  const moved = byField.size === 0 ? [] : movedFields(write).flatMap((field) => byField.get(field) ?? []);
  const byClass = (name: EffectClass): InstallMode => strictest([of(name), ...moved]);
  if (route.name.startsWith('comments.')) return byClass('comment');
  if (makes(route)) return byClass('create');
  const fields = apiFieldsOf(route, write.input.body);
  if (fields.length === 0) return byClass('update');
  return strictest([...fields.map((field) => byField.get(field) ?? of('update')), ...moved]);
}

/** Returns the changed fields of existing objects, by their API names. */
function movedFields({ changes }: StagedWrite): string[] {
  const isOld = ({ before, isSilent, kind }: Change): boolean =>
    before !== null && !isSilent && kind !== 'comment';
  return changes.filter(isOld).flatMap((change) => effectOf(change).fields);
}
