// Finds the fields that can have a separate mode, such as `update.assignee`: the fields that host calls
// update, by their API names and by the other names that request bodies accept.
import type { Contract } from '../../../kernel/contract/contract.ts';
import { contracts } from '../../contracts.ts';
import { makes, type Route } from '../../../kernel/http/route.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { fieldsOf, writtenFields } from '../../../kernel/rights/table.ts';
import { hostCallsOf } from '../host-calls/gateway.ts';
import type { InstallMode, InstallModes } from '../installs/contract.ts';
import { apiNameOf } from '../undo/models.ts';

/** API names of fields, by accepted name. */
export type ModeFields = ReadonlyMap<string, readonly string[]>;

const strictness: readonly InstallMode[] = ['apply', 'propose', 'simulate'];
const prefix = 'update.';

/** @param modes not empty */
export function strictest(modes: readonly InstallMode[]): InstallMode {
  return strictness[Math.max(...modes.map((mode) => strictness.indexOf(mode)))]!;
}

/** True for routes whose writes have the mode of updates, not of creations, deletions or comments. */
function isUpdate(route: Route): boolean {
  return !makes(route) && !route.name.endsWith('.delete') && !route.name.startsWith('comments.');
}

export function apiFieldsOf(route: Route, body: unknown): string[] {
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
export function fieldModesOf(modes: InstallModes, known: ModeFields): ReadonlyMap<string, InstallMode> {
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
