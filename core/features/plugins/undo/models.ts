// Gives an undo access to the models and operations of all entities.
import type { Change, Entity } from '../../../kernel/changes/change.ts';
import type { AnyModel, EntityModel } from '../../../kernel/changes/model.ts';
import type { RequestedWrite } from '../../../kernel/changes/staging.ts';
import type { Contract } from '../../../kernel/contract/contract.ts';
import { actorParts, inputName, isReference, storedName } from '../../../kernel/contract/schemas.ts';
import type { Context } from '../../../kernel/context.ts';
import { contracts } from '../../contracts.ts';
import type { App } from '../../../kernel/http/app.ts';
import type { Route } from '../../../kernel/http/route.ts';
import { askAll, createWriteReplay, principalIn } from '../../proposals/index.ts';
import type { Cause } from '../../../kernel/events/event.ts';
import type { Op } from '../../../platform/store/store.ts';

export type UndoModel = EntityModel<Entity, Readonly<Record<string, unknown>>>;

export interface UndoModels {
  /** Returns undefined for entities that are not separate objects, such as a position on a board. */
  byName(name: string): UndoModel | undefined;
  /** Returns the route of an entity's operation; undefined if there is none. */
  operation(kind: string, name: 'update' | 'delete' | 'restore'): Route | undefined;
  /** Returns true if the body of the update operation has the field of the row. */
  takes(model: UndoModel, field: string): boolean;
  /**
   * Performs operations as the person who undoes, with the role, scopes and rules of a request.
   * @throws ApiError of the first refused operation
   */
  ask(ctx: Context, cause: Cause, writes: readonly RequestedWrite[]): Promise<Operated>;
}

/** Changes and ops of performed operations. */
export interface Operated {
  readonly changes: readonly Change[];
  readonly ops: readonly Op[];
}

export type AllModels = ReadonlyMap<string, AnyModel>;

/** @param app returns the API; available once it is built */
export function undoModelsOf(models: AllModels, app: () => App): UndoModels {
  const replayWrite = createWriteReplay(app);
  const operation: UndoModels['operation'] = (kind, name) => {
    const full = `${contractOf(kind)?.path}.${name}`;
    return app().routes.find((route) => route.name === full && route.kind === 'write');
  };
  return {
    byName: (name) => modelIn(models, name),
    operation,
    takes(model, field) {
      const { properties = {} } = (operation(model.name, 'update')?.body ?? {}) as { properties?: object };
      return inputNameOf(model, field) in properties;
    },
    async ask(ctx, cause, writes) {
      const principal = principalIn(ctx);
      const outcome = await askAll(ctx.workspaceId, ctx.authority.actor.id, writes, (write, staged) =>
        replayWrite(write, { principal, cause, staged }),
      );
      if (outcome.refusal) throw outcome.refusal;
      return outcome;
    },
  };
}

/** Restores the type of a model, which the map of all models erases. */
const modelIn = (models: AllModels, name: string): UndoModel | undefined =>
  models.get(name) as UndoModel | undefined;

const contractByName: ReadonlyMap<string, Contract> = new Map(contracts.map((one) => [one.name, one]));

export function contractOf(kind: string): Contract | undefined {
  return contractByName.get(kind);
}

/** Returns the API name of a field of the row. */
export function apiNameOf(kind: string, field: string): string {
  if (field === 'labelIds') return 'labels';
  if (field === 'fieldValues') return 'fields';
  const contract = contractOf(kind);
  return (contract && apiNamesIn(contract).get(field)) ?? field;
}

const apiNames = new WeakMap<Contract, ReadonlyMap<string, string>>();

/** Returns the API names of a contract by the field of the row; an actor has several fields. */
function apiNamesIn(contract: Contract): ReadonlyMap<string, string> {
  const known =
    apiNames.get(contract) ??
    new Map(
      Object.entries(contract.fields).flatMap(([name, one]) =>
        [storedName(name, one), ...(one.type === 'actor' ? actorParts(name) : [])].map((field) => [
          field,
          name,
        ]),
      ),
    );
  apiNames.set(contract, known);
  return known;
}

/** Returns the name of a field of the row in the body of the update operation. */
export function inputNameOf(model: UndoModel, field: string): string {
  const match = Object.entries(contractOf(model.name)?.fields ?? {}).find(
    ([name, one]) => storedName(name, one) === field,
  );
  return model.inputs?.[field]?.name ?? (match ? inputName(...match) : field);
}

/** Returns the API names of fields, without duplicates and fields that the API does not show. */
export function apiNamesOf(kind: string, fields: readonly string[]): string[] {
  const apiFields = contractOf(kind)?.fields;
  const names = new Set(fields.map((field) => apiNameOf(kind, field)));
  return [...names].filter((name) => !apiFields || name in apiFields || name === 'deletedAt');
}

/** Returns the entity that a field of the row refers to; undefined if the field is not a reference. */
export function referencedKind(kind: string, field: string): string | undefined {
  if (field === 'labelIds') return 'label';
  const match = Object.entries(contractOf(kind)?.fields ?? {}).find(
    ([name, one]) => isReference(one) && storedName(name, one) === field,
  );
  const one = match?.[1];
  return one && isReference(one) ? one.to.name : undefined;
}
