// The fields that an install may have a mode for (`update.assignee`): those that a plugin's calls update, by the names that the API shows,
// and the other names under which bodies give them.
import type { Contract } from '../../contract/contract.ts';
import { contracts } from '../../contracts.ts';
import { makes, type Route } from '../../http/route.ts';
import { invalidField } from '../../lib/errors.ts';
import { didYouMean } from '../../lib/nearest.ts';
import { fieldsOf, writtenFields } from '../../rights/table.ts';
import { hostCallsOf } from '../host-calls.ts';
import type { InstallMode, InstallModes } from '../installs/contract.ts';
import { shownName } from '../undo/kinds.ts';

/** By every name that is taken, the fields that it means. */
export type ModeFields = ReadonlyMap<string, readonly string[]>;

const strictness: readonly InstallMode[] = ['apply', 'propose', 'simulate'];
const prefix = 'update.';

/** @param modes not empty */
export function strictest(modes: readonly InstallMode[]): InstallMode {
  return strictness[Math.max(...modes.map((mode) => strictness.indexOf(mode)))]!;
}

/** Whether what it writes has the mode of updates: not what makes, deletes or says something. */
function isUpdate(route: Route): boolean {
  return !makes(route) && !route.name.endsWith('.delete') && !route.name.startsWith('comments.');
}

/** The fields that one request writes, as the API shows them. */
export function shownFieldsOf(route: Route, body: unknown): string[] {
  return shownFor(route, fieldsOf(route, body));
}

const byRoutes = new WeakMap<readonly Route[], ModeFields>();

export function modeFieldsOf(routes: readonly Route[]): ModeFields {
  const known = byRoutes.get(routes) ?? findFields(routes);
  byRoutes.set(routes, known);
  return known;
}

function findFields(routes: readonly Route[]): ModeFields {
  const found = new Map<string, readonly string[]>();
  for (const { route } of hostCallsOf(routes).values()) {
    if (route.kind !== 'write' || !isUpdate(route)) continue;
    const written = writtenFields(route);
    for (const name of shownFor(route, written)) found.set(name, [name]);
    for (const [given, means] of [...givenNames(route), ...written.map((name) => [name, [name]] as const)])
      if (means.length > 0 && !found.has(given)) found.set(given, shownFor(route, means));
  }
  return found;
}

/** What each property of a body writes. */
function givenNames({ body }: Route): (readonly [string, readonly string[]])[] {
  const { properties = {} } = (body ?? {}) as { properties?: object };
  return Object.keys(properties).map((given) => [given, fieldsOf(body ? { body } : {}, { [given]: null })]);
}

/** Other names of a reference that no field of the contract is kept under. */
const otherNames: Readonly<Record<string, string>> = { teamKey: 'team' };

function shownFor({ name }: Route, fields: readonly string[]): string[] {
  const path = name.split('.', 1)[0];
  const contract = contracts.find((one) => one.path === path) as Contract | undefined;
  return [...new Set(fields.map((field) => otherNames[field] ?? shownName(contract?.name ?? '', field)))];
}

/** The modes of fields, by the names that the API shows: of two names of one field, the stricter mode. */
export function fieldModesOf(modes: InstallModes, known: ModeFields): ReadonlyMap<string, InstallMode> {
  const found = new Map<string, InstallMode>();
  for (const [name, mode] of Object.entries(modes)) {
    if (!name.startsWith(prefix)) continue;
    for (const field of known.get(name.slice(prefix.length)) ?? []) {
      const other = found.get(field);
      found.set(field, other === undefined ? mode : strictest([mode, other]));
    }
  }
  return found;
}

/** The names that the API shows, for people. */
function modeFieldNames(known: ModeFields): string[] {
  return [...known].flatMap(([name, means]) => (means.includes(name) ? [name] : [])).sort();
}

/** @throws ApiError validation_failed for a field that no plugin updates: its mode would hold nothing */
export function checkModes(modes: InstallModes, known: ModeFields): void {
  for (const name of Object.keys(modes)) {
    const field = name.startsWith(prefix) ? name.slice(prefix.length) : null;
    if (field === null || known.has(field)) continue;
    const names = modeFieldNames(known);
    throw invalidField(`modes.${name}`, 'unknown_field', {
      why: `No plugin updates a field ${field}, so that this mode would hold nothing.`,
      fix: `Use update with one of ${names.join(', ')}.${didYouMean(field, names)}`,
    });
  }
}
