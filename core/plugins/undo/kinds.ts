// The kinds of objects as an undo needs them, which need not know what a kind is of.
import type { Change, Entity } from '../../changes/change.ts';
import type { AnyKind, Kind } from '../../changes/kind.ts';
import type { Contract } from '../../contract/contract.ts';
import { actorParts, isReference, keptName } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { contracts } from '../../contracts.ts';
import type { App } from '../../http/app.ts';
import type { CheckedInput } from '../../http/route.ts';

export type UndoneKind = Kind<Entity, Readonly<Record<string, unknown>>>;

export interface UndoKinds {
  /** Undefined for what is no object by itself, such as a place on a board. */
  named(name: string): UndoneKind | undefined;
  /** Deletes an object as its operation does; null where there is none. @throws ApiError */
  remove(ctx: Context, kind: string, id: string): Promise<readonly Change[] | null>;
}

export type AllKinds = ReadonlyMap<string, AnyKind>;

/** @param app the door; known once it is made */
export function undoKindsOf(kinds: AllKinds, app: () => Pick<App, 'routes'>): UndoKinds {
  return {
    named: (name) => kindIn(kinds, name),
    async remove(ctx, kind, id) {
      const name = `${contractOf(kind)?.path}.delete`;
      const route = app().routes.find((one) => one.name === name);
      if (route?.kind !== 'write') return null;
      const input = { params: { id }, query: {}, body: {}, ifMatch: null };
      const { changes, ops } = await route.write(ctx, input as CheckedInput);
      return ops ? null : changes;
    },
  };
}

/** The same kind: what the registry holds of it has lost its types, nothing else. */
const kindIn = (kinds: AllKinds, name: string): UndoneKind | undefined =>
  kinds.get(name) as UndoneKind | undefined;

export function contractOf(kind: string): Contract | undefined {
  return contracts.find(({ name }) => name === kind);
}

/** The name under which answers show what the row keeps. */
export function shownName(kind: string, field: string): string {
  if (field === 'labelIds') return 'labels';
  if (field === 'fieldValues') return 'fields';
  const found = Object.entries(contractOf(kind)?.fields ?? {}).find(
    ([name, one]) =>
      keptName(name, one) === field || (one.type === 'actor' && actorParts(name).includes(field)),
  );
  return found?.[0] ?? field;
}

/** The same of several: each once, and none that no answer shows. */
export function shownNames(kind: string, fields: readonly string[]): string[] {
  const shown = contractOf(kind)?.fields;
  const names = new Set(fields.map((field) => shownName(kind, field)));
  return [...names].filter((name) => !shown || name in shown || name === 'deletedAt');
}

/** What a value of a row refers to: the kind of it; undefined for what refers to nothing. */
export function referredKind(kind: string, field: string): string | undefined {
  if (field === 'labelIds') return 'label';
  const found = Object.entries(contractOf(kind)?.fields ?? {}).find(
    ([name, one]) => isReference(one) && keptName(name, one) === field,
  );
  const one = found?.[1];
  return one && isReference(one) ? one.to.name : undefined;
}
