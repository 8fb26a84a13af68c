// What the signatures of host calls and those of the client have in common.
import type { Contract } from '../contract/contract.ts';
import type { Route } from '../http/route.ts';
import { givenAs } from '../lib/schema.ts';
import type { JsonSchema } from './type-text.ts';

/** The parameter that names the fields which an answer shows. */
export function choosingOf({ query }: Route): string | undefined {
  const { properties = {} } = (query ?? {}) as JsonSchema;
  return Object.keys(properties).find((name) => properties[name]?.[givenAs] === 'fields');
}

/** Null where it is no page of a list. */
export function itemOfPage({ properties = {} }: JsonSchema): JsonSchema | null {
  return ('pageInfo' in properties && properties.data?.items) || null;
}

/** Whose id it is, where that is not the object's own. */
export function idNameOf({ path, parent }: Contract, route: Route): string {
  return parent && !route.path.startsWith(`/api/v1/${path}/{id}`) ? `${parent.name}Id` : 'id';
}
