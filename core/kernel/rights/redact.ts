// Redacts objects for callers with narrowed scopes: only the fields of the scope, and only references to
// issues of its teams. Responses do not disclose if an invisible object exists.
import type { EventType } from '../events/catalogue.ts';
import type { EventEnvelope } from '../events/event.ts';
import { narrowingOf, scopeOfEvent, type Narrowing, type Rights } from './rights.ts';

/** Fields that are never removed, because they identify the object and its version. */
const always = ['id', 'version', 'createdAt', 'updatedAt'];

/** @param value object, page of objects, or event data */
export function redact(value: unknown, { fields, teams }: Narrowing): unknown {
  const visible = fields === null ? value : onlyFields(value, fields);
  return teams === null ? visible : withoutOthers(visible, teams);
}

/**
 * Redacts an event that the holder may read. The path of the cause is removed, because it contains issues
 * without their teams.
 */
export function redactEvent(rights: Rights, event: EventEnvelope): EventEnvelope {
  const narrowing = rights.narrowed && narrowingOf(rights, scopeOfEvent(event.type));
  if (!narrowing) return event;
  const cause = narrowing.teams === null ? event.cause : { ...event.cause, path: [] };
  return { ...event, cause, data: redactEventData(rights, event) };
}

export function redactEventData(
  rights: Rights,
  { type, data }: { readonly type: EventType; readonly data: EventEnvelope['data'] },
): EventEnvelope['data'] {
  const narrowing = rights.narrowed && narrowingOf(rights, scopeOfEvent(type));
  return narrowing ? (redact(data, narrowing) as EventEnvelope['data']) : data;
}

function onlyFields(value: unknown, fields: readonly string[]): unknown {
  if (!isObject(value)) return value;
  if (Array.isArray(value.data) && 'pageInfo' in value)
    return { ...value, data: value.data.map((item) => onlyFields(item, fields)) };
  const entries = Object.entries(value).flatMap(([name, inner]): [string, unknown][] => {
    if (name === 'previous') return [[name, onlyFields(inner, fields)]];
    return always.includes(name) || fields.includes(name) ? [[name, inner]] : [];
  });
  return Object.fromEntries(entries);
}

/** Replaces references to issues of other teams with null, and removes them from lists. */
function withoutOthers(value: unknown, teams: readonly string[]): unknown {
  if (Array.isArray(value))
    return value.map((item) => withoutOthers(item, teams)).filter((item) => item !== null);
  if (!isObject(value)) return value;
  if (isOfOther(value, teams)) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutOthers(inner, teams)]),
  );
}

function isOfOther({ identifier }: Readonly<Record<string, unknown>>, teams: readonly string[]): boolean {
  const [, key] = (typeof identifier === 'string' && /^([A-Z][A-Z0-9]*)-\d+$/.exec(identifier)) || [];
  return key !== undefined && !teams.includes(key);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object';
}
