// The kinds of objects as an undo needs them, which need not know what a kind is of.
import type { Change, Entity } from '../../changes/change.ts';
import type { AnyKind, Kind } from '../../changes/kind.ts';
import type { AskedWrite } from '../../changes/staging.ts';
import type { Contract } from '../../contract/contract.ts';
import { actorParts, isReference, keptName } from '../../contract/schemas.ts';
import type { Context } from '../../context.ts';
import { contracts } from '../../contracts.ts';
import type { App } from '../../http/app.ts';
import type { Route } from '../../http/route.ts';
import { askAll, createDoorAsk, principalIn } from '../../proposals/again.ts';
import type { Cause } from '../../events/origin.ts';
import type { Op } from '../../store/store.ts';

export type UndoneKind = Kind<Entity, Readonly<Record<string, unknown>>>;

export interface UndoKinds {
  /** Undefined for what is no object by itself, such as a place on a board. */
  named(name: string): UndoneKind | undefined;
  /** An operation of the objects of a kind, such as its `update`; undefined where it has none. */
  operation(kind: string, name: 'update' | 'delete' | 'restore'): Route | undefined;
  /**
   * Asks operations as whoever undoes: their role, their scopes and every rule decide, as of a request.
   * @throws ApiError the refusal of the first that is refused
   */
  ask(ctx: Context, cause: Cause, writes: readonly AskedWrite[]): Promise<Operated>;
}

/** Changes and rows that operations came to. */
export interface Operated {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
}

export type AllKinds = ReadonlyMap<string, AnyKind>;

/** @param app the API; known once it is made */
export function undoKindsOf(kinds: AllKinds, app: () => App): UndoKinds {
  const askAtDoor = createDoorAsk(app);
  return {
    named: (name) => kindIn(kinds, name),
    operation(kind, name) {
      const full = `${contractOf(kind)?.path}.${name}`;
      return app().routes.find((route) => route.name === full && route.kind === 'write');
    },
    async ask(ctx, cause, writes) {
      const principal = principalIn(ctx);
      const asked = await askAll(ctx.workspaceId, ctx.authority.actor.id, writes, (write, staged) =>
        askAtDoor(write, { principal, cause, staged }),
      );
      if (asked.refusal) throw asked.refusal;
      return asked;
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
