// Divides the writes of a run by mode: committed with the run, pending approval, or simulated and dropped.
// docs/decisions/0059.
import type { StagedWrite } from '../../../kernel/changes/staging.ts';
import type { Change } from '../../../kernel/changes/change.ts';
import type { Contract } from '../../../kernel/contract/contract.ts';
import type { App } from '../../../kernel/http/app.ts';
import { makes, type Route } from '../../../kernel/http/route.ts';
import { fieldsOf, writtenFields } from '../../../kernel/rights/table.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { contracts } from '../../contracts.ts';
import type { EffectClass } from '../../proposals/contract.ts';
import { classOf } from '../../proposals/index.ts';
import { ownWrites } from '../host-calls/bridge.ts';
import { actionCall } from '../schedules/one-time-jobs.ts';
import { hostCallsOf } from '../host-calls/gateway.ts';
import type { InstallMode, InstallModes } from '../installs/contract.ts';
import type { Install } from '../installs/model.ts';
import { effectOf } from '../runs/effects.ts';
import { apiNameOf } from '../undo/models.ts';

/** Writes by mode, each list in call order. */
export type Divided = Readonly<Record<InstallMode, readonly StagedWrite[]>>;

/** True for a write that deletes something. Deletions need approval unless the install's modes say otherwise. */
function isDeletion({ operation, changes }: StagedWrite): boolean {
  return operation.endsWith('.delete') || changes.some((change) => classOf(change) === 'delete');
}

/**
 * @param route API route of the write; own calls have none
 * @param known fields that can have a mode
 */
function modeOfWrite(
  { mode, modes }: Install,
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

/** True if all writes certainly have the same mode and need not be divided, as in most runs. */
export function isOfOneMode({ mode, modes }: Install, writes: readonly StagedWrite[]): boolean {
  return (
    Object.keys(modes).length === 0 && mode !== 'propose' && !(mode === 'apply' && writes.some(isDeletion))
  );
}

/** Divides writes by mode. A write gets the mode of those that it builds on, if that is stricter. */
export function divide(install: Install, writes: readonly StagedWrite[], app: App): Divided {
  const own = writes.filter(({ operation }) => ownWrites.has(operation) && operation !== actionCall);
  const fields = modeFieldsOf(app.routes);
  const divided: Record<InstallMode, StagedWrite[]> = { apply: [], propose: [], simulate: [] };
  for (const write of writes) {
    if (own.includes(write)) continue;
    // The call of an action may change anything, so it has the mode of the automation.
    const mode =
      write.operation === actionCall
        ? install.mode
        : modeOfWrite(install, write, app.route(write.operation), fields);
    divided[worst(mode, write, divided)].push(write);
  }
  // Stored values record the actions of the plugin, so they get the mode of its other writes.
  const withOwn = ownModeOf(install, divided);
  const selected = new Set([...divided[withOwn], ...own]);
  return { ...divided, [withOwn]: writes.filter((write) => selected.has(write)) };
}

function ownModeOf({ mode }: Install, divided: Divided): InstallMode {
  if (divided.apply.length > 0) return 'apply';
  if (divided.propose.length > 0) return 'propose';
  return divided.simulate.length > 0 || mode === 'simulate' ? 'simulate' : 'apply';
}

/** Returns the strictest mode among this write and the writes that it builds on. */
function worst(mode: InstallMode, write: StagedWrite, { propose, simulate }: Divided): InstallMode {
  if (simulate.some((earlier) => buildsOn(write, earlier))) return 'simulate';
  return mode === 'apply' && propose.some((earlier) => buildsOn(write, earlier)) ? 'propose' : mode;
}

/** True if a write refers to an object that an earlier one creates, or changes the same field of the same object. */
function buildsOn(write: StagedWrite, earlier: StagedWrite): boolean {
  const text = JSON.stringify(write.input);
  return earlier.changes.some(
    (change) =>
      (change.before === null && text.includes(`"${change.id}"`)) ||
      write.changes.some((later) => later.id === change.id && movesSame(change, later)),
  );
}

function movesSame(a: Change, b: Change): boolean {
  const fields = new Set(effectOf(a).fields);
  return effectOf(b).fields.some((field) => fields.has(field));
}

// Fields that can have a mode, such as `update.assignee`: the fields that host calls update, by their API names
// and by the other names that request bodies accept.

/** API names of fields, by accepted name. */
type ModeFields = ReadonlyMap<string, readonly string[]>;

const strictness: readonly InstallMode[] = ['apply', 'propose', 'simulate'];
const prefix = 'update.';

/** @param modes not empty */
function strictest(modes: readonly InstallMode[]): InstallMode {
  return strictness[Math.max(...modes.map((mode) => strictness.indexOf(mode)))]!;
}

/** True for routes whose writes have the mode of updates, not of creations, deletions or comments. */
function isUpdate(route: Route): boolean {
  return !makes(route) && !route.name.endsWith('.delete') && !route.name.startsWith('comments.');
}

function apiFieldsOf(route: Route, body: unknown): string[] {
  return apiFieldsFor(route, fieldsOf(route, body));
}

const byRoutes = new WeakMap<readonly Route[], ModeFields>();

export function modeFieldsOf(routes: readonly Route[]): ModeFields {
  const known = byRoutes.get(routes) ?? findFields(routes);
  byRoutes.set(routes, known);
  return known;
}

function findFields(routes: readonly Route[]): ModeFields {
  const byName = new Map<string, readonly string[]>();
  for (const { route } of hostCallsOf(routes).values()) {
    if (route.kind !== 'write' || !isUpdate(route)) continue;
    const written = writtenFields(route);
    for (const name of apiFieldsFor(route, written)) byName.set(name, [name]);
    for (const [property, means] of [
      ...propertyFields(route),
      ...written.map((name) => [name, [name]] as const),
    ])
      if (means.length > 0 && !byName.has(property)) byName.set(property, apiFieldsFor(route, means));
  }
  return byName;
}

/** Returns the fields that each property of a body writes. */
function propertyFields({ body }: Route): (readonly [string, readonly string[]])[] {
  const { properties = {} } = (body ?? {}) as { properties?: object };
  return Object.keys(properties).map((property) => [
    property,
    fieldsOf(body ? { body } : {}, { [property]: null }),
  ]);
}

/** API names of references that no field of the contract stores. */
const otherNames: Readonly<Record<string, string>> = { teamKey: 'team' };

function apiFieldsFor({ name }: Route, fields: readonly string[]): string[] {
  const path = name.split('.', 1)[0];
  const contract = contracts.find((one) => one.path === path) as Contract | undefined;
  return [...new Set(fields.map((field) => otherNames[field] ?? apiNameOf(contract?.name ?? '', field)))];
}

/** Returns the modes by API name; a field with two names gets the stricter mode. */
function fieldModesOf(modes: InstallModes, known: ModeFields): ReadonlyMap<string, InstallMode> {
  const byName = new Map<string, InstallMode>();
  for (const [name, mode] of Object.entries(modes)) {
    if (!name.startsWith(prefix)) continue;
    for (const field of known.get(name.slice(prefix.length)) ?? []) {
      const other = byName.get(field);
      byName.set(field, other === undefined ? mode : strictest([mode, other]));
    }
  }
  return byName;
}

/** Returns the API names without the other accepted names, for messages. */
function modeFieldNames(known: ModeFields): string[] {
  return [...known].flatMap(([name, means]) => (means.includes(name) ? [name] : [])).sort();
}

/** @throws ApiError validation_failed for a field that no plugin can update, because its mode would have no effect */
export function checkModes(modes: InstallModes, known: ModeFields): void {
  for (const name of Object.keys(modes)) {
    const field = name.startsWith(prefix) ? name.slice(prefix.length) : null;
    if (field === null || known.has(field)) continue;
    const names = modeFieldNames(known);
    throw invalidField(`modes.${name}`, 'unknown_field', {
      why: `Plugins cannot update a field ${field}, so this mode would have no effect.`,
      fix: `Use update with one of ${names.join(', ')}.${didYouMean(field, names)}`,
    });
  }
}
