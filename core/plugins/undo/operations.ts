// The request by which an undo takes back what was written of members, apps, plugins, webhooks and the workspace: an operation of their
// API, so that no rule of theirs has a way around it. docs/decisions/0073.
import type { AskedWrite } from '../../changes/staging.ts';
import { givenName, keptName } from '../../contract/schemas.ts';
import { isoTime } from '../../changes/operations.ts';
import type { Route } from '../../http/route.ts';
import type { Folded } from './fold.ts';
import { contractOf, type UndoKinds } from './kinds.ts';
import { patchOf } from './values.ts';

/** Null where no operation takes it back. */
export function requestOf(kinds: UndoKinds, folded: Folded): AskedWrite | null {
  const { kind, entity, isRemoved, moved } = folded;
  const deletedAt = moved.get('deletedAt');
  const isDeleted = isRemoved || (moved.has('deletedAt') && deletedAt !== null);
  const name = isDeleted ? 'delete' : deletedAt === null ? 'restore' : 'update';
  const route = kinds.operation(kind.name, name);
  if (!route) return null;
  const body = name === 'update' ? bodyOf(route, folded) : undefined;
  if (body && Object.keys(body).length === 0) return null;
  const params = route.params ? { id: entity.id } : {};
  const input = { params, query: {}, ifMatch: entity.version, ...(body ? { body } : {}) };
  return { operation: route.name, input, ids: [] };
}

/** The values that the operation takes, by the names that a request gives them. */
function bodyOf(route: Route, { kind, entity, moved }: Folded): Record<string, unknown> {
  const takes = (route.body as { properties?: object } | undefined)?.properties ?? {};
  const fields = Object.entries(contractOf(kind.name)?.fields ?? {});
  const body: Record<string, unknown> = {};
  for (const [kept, value] of Object.entries(patchOf(entity, moved))) {
    const found = fields.find(([name, field]) => keptName(name, field) === kept);
    const given = found ? givenName(...found) : kept;
    if (!(given in takes)) continue;
    body[given] = found?.[1].type === 'time' ? isoTime(value as number | null) : value;
  }
  return body;
}
