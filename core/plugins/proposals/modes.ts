// What becomes of each write of a run: an install has a mode, and may have others for classes of writes and for fields.
import { makes, type Route } from '../../http/route.ts';
import type { StagedWrite } from '../../changes/staging.ts';
import { classOf } from '../../proposals/diff.ts';
import type { EffectClass } from '../../proposals/contract.ts';
import { fieldsOf } from '../../rights/table.ts';
import type { InstallMode } from '../installs/contract.ts';
import type { Install } from '../installs/schema.ts';

const strictness: readonly InstallMode[] = ['apply', 'propose', 'simulate'];

/** @param modes not empty */
function strictest(modes: readonly InstallMode[]): InstallMode {
  return strictness[Math.max(...modes.map((mode) => strictness.indexOf(mode)))]!;
}

/** Whether a write removes something, which nobody expects of a plugin that they did not tell so. */
export function isDeletion({ operation, changes }: Pick<StagedWrite, 'operation' | 'changes'>): boolean {
  return operation.endsWith('.delete') || changes.some((change) => classOf(change) === 'delete');
}

/** @param routeOf the route of an operation; undefined for the plugin's own calls */
export function modeOfWrite(
  { mode, modes }: Pick<Install, 'mode' | 'modes'>,
  write: StagedWrite,
  route: Route,
): InstallMode {
  const of = (name: EffectClass): InstallMode => modes[name] ?? mode;
  if (isDeletion(write)) return modes.delete ?? (mode === 'apply' ? 'propose' : mode);
  if (route.name.startsWith('comments.')) return of('comment');
  if (makes(route)) return of('create');
  const fields = fieldsOf(route, write.input.body);
  if (fields.length === 0) return of('update');
  return strictest(fields.map((field) => modes[`update.${field}`] ?? of('update')));
}
