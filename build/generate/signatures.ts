// Shared parts of the signatures of host calls and client methods.
import type { Contract } from '../../core/kernel/contract/contract.ts';
import type { Route } from '../../core/kernel/http/route.ts';
import { inputForm } from '../../core/platform/lib/schema.ts';
import type { JsonSchema } from './type-text.ts';

/** Returns the name of the parameter that selects the fields of the response. */
export function choosingOf({ query }: Route): string | undefined {
  const { properties = {} } = (query ?? {}) as JsonSchema;
  return Object.keys(properties).find((name) => properties[name]?.[inputForm] === 'fields');
}

/** Returns null if the schema is not a page of a list. */
export function itemOfPage({ properties = {} }: JsonSchema): JsonSchema | null {
  return ('pageInfo' in properties && properties.data?.items) || null;
}

/** Returns the parameter name of the id: that of the parent if the path starts with the parent. */
export function idNameOf({ path, parent }: Contract, route: Route): string {
  return parent && !route.path.startsWith(`/api/v1/${path}/{id}`) ? `${parent.name}Id` : 'id';
}
