// What becomes of each write of a run: an install has a mode, and may have others for classes of writes and for fields.
import type { Change } from '../../changes/change.ts';
import { makes, type Route } from '../../http/route.ts';
import type { StagedWrite } from '../../changes/staging.ts';
import { classOf } from '../../proposals/diff.ts';
import type { EffectClass } from '../../proposals/contract.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { Install } from '../installs/schema.ts';
import { effectOf } from '../runs/effects.ts';
import { fieldModesOf, shownFieldsOf, strictest, type ModeFields } from './mode-fields.ts';

/** Whether a write removes something, which nobody expects of a plugin that they did not tell so. */
export function isDeletion({ operation, changes }: Pick<StagedWrite, 'operation' | 'changes'>): boolean {
  return operation.endsWith('.delete') || changes.some((change) => classOf(change) === 'delete');
}

/** @param route of its operation, which is none of the plugin's own calls; @param known those that have modes */
export function modeOfWrite(
  { mode, modes }: Pick<Install, 'mode' | 'modes'>,
  write: StagedWrite,
  route: Route,
  known: ModeFields,
): InstallMode {
  const of = (name: EffectClass): InstallMode => modes[name] ?? mode;
  if (isDeletion(write)) return modes.delete ?? (mode === 'apply' ? 'propose' : mode);
  const byField = fieldModesOf(modes, known);
  // Whatever moves a field whose mode somebody set is held by that mode: a card on a board moves the state of its issue.
  const moved = byField.size === 0 ? [] : movedFields(write).flatMap((field) => byField.get(field) ?? []);
  const byClass = (name: EffectClass): InstallMode => strictest([of(name), ...moved]);
  if (route.name.startsWith('comments.')) return byClass('comment');
  if (makes(route)) return byClass('create');
  const fields = shownFieldsOf(route, write.input.body);
  if (fields.length === 0) return byClass('update');
  return strictest([...fields.map((field) => byField.get(field) ?? of('update')), ...moved]);
}

/** What changes of objects that were there, by the names that the API shows. */
function movedFields({ changes }: StagedWrite): string[] {
  const isOld = ({ before, isSilent, kind }: Change): boolean =>
    before !== null && !isSilent && kind !== 'comment';
  return changes.filter(isOld).flatMap((change) => effectOf(change).fields);
}
