// Declares resources as plain data without I/O, for the server, the SDK, the CLI and the generated documents.
// Behavior beyond the default operations is in core/kernel/resource/define.ts.
import type { TObject } from 'typebox';
import type { ErrorCode } from '../../platform/lib/errors/errors.ts';
import { capital } from '../../platform/lib/text/words.ts';
import type { Field, Reference, ReferenceTarget } from './field.ts';

/** Default operations, implemented in core/kernel/resource. */
export type PlainOperation = 'list' | 'create' | 'get' | 'update' | 'delete' | 'restore';

interface OperationFacts {
  readonly summary: string;
  readonly description?: string;
  /** Error codes in addition to the default ones of the operation. */
  readonly errors?: readonly ErrorCode[];
  /** Fields written in addition to those of the body. */
  readonly writes?: readonly string[];
}

export interface Contract extends ReferenceTarget {
  /** Singular name, in events and messages: `project`. */
  readonly name: string;
  /** URL segment, namespace in `ctx` of plugins, noun of CLI commands: `projects`. */
  readonly path: string;
  /**
   * Namespace of the scopes; default: the path. Set for a resource under the scopes of another one: the
   * scopes of issues also cover relations.
   */
  readonly scope?: string;
  /**
   * Rights of members, guests and apps in these scopes, if `roleTable` has no row for them; without either, only
   * owners and admins have access.
   */
  readonly roles?: Readonly<Partial<Record<'member' | 'guest' | 'app', 'read' | 'write'>>>;
  /** Name of the schema in the OpenAPI document. */
  readonly title: string;
  readonly doc: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly operations: Readonly<Partial<Record<PlainOperation, string | OperationFacts>>>;
  readonly events: {
    readonly created?: string;
    readonly updated?: string;
    readonly deleted?: string;
    readonly restored?: string;
    /** Event types of custom operations and notifications whose data has no `previous`. */
    readonly announced?: readonly string[];
    /** Event types of custom operations whose data has `previous`. */
    readonly other?: readonly string[];
    /** Properties of the event data in addition to those of the object, by event type. */
    readonly beside?: Readonly<Record<string, TObject['properties']>>;
  };
  /** True if the object and its list can be read at a past time (`asOf`). */
  readonly asOf?: true;
  /**
   * Undo of a write. `values`: restores the previous values and requires only the write scope. `operations`:
   * calls API operations as the member who undoes, so that the role of the member and all rules apply.
   * `never`: the write cannot be undone; the text is the error message, with the remedy.
   */
  readonly undo: 'values' | 'operations' | { readonly never: string };
  /** True if deletion keeps the row, so that references to the object stay valid. */
  readonly retainsDeleted?: true;
  /**
   * True if everything that the operations read and write belongs to a team, so that a scope narrowed to
   * teams can be enforced. An object whose `team` is null is visible to everybody.
   */
  readonly ofTeam?: true;
  /**
   * True if each object belongs to one member, and the operations restrict callers with an `own` narrowing to
   * their own objects.
   */
  readonly ofMember?: true;
  /**
   * Scope to receive the events of all members, for objects that belong to one member (`member` in their
   * events). With the read scope, members receive only their own. Absent for other resources.
   */
  readonly subscriptionScope?: string;
  /** Parent resource: the paths of the list and the creation are below the path of the parent. */
  readonly parent?: ReferenceTarget & { readonly path: string };
  /** Order of lists: by time of creation, or ascending by these stored properties. Default: `oldest`. */
  readonly order?: 'newest' | 'oldest' | readonly string[];
  /** Section of the in-memory directory: its name, and the fields of its entries. */
  readonly directory?: {
    readonly as: string;
    readonly entryFields: readonly string[];
    /** True if deleted objects stay in the directory, marked as removed. */
    readonly withDeleted?: true;
  };
  /** Operations that plugins call as `ctx.<path>.<operation>`. */
  readonly calls?: readonly string[];
  readonly examples?: { readonly create?: object; readonly update?: object };
}

export function listPathOf({ path, parent }: Contract): string {
  return parent ? `/api/v1/${parent.path}/{id}/${path}` : `/api/v1/${path}`;
}

type Simplify<T> = { [K in keyof T]: T[K] } & {};
type OrNull<F extends Field> = F['options'] extends { readonly nullable: true } ? null : never;
type InputValue<F extends Field> = NonNullable<F['types']>['input'] | OrNull<F>;
type Out<F extends Field> = NonNullable<F['types']>['response'] | OrNull<F>;
type In<F extends Field> = NonNullable<F['types']>['stored'] | OrNull<F>;
type IsReference<F> = F extends { readonly to: ReferenceTarget } ? true : false;

/** Name of a field in requests: references to objects end in `Id`. */
type InputName<K extends string, F> =
  F extends Reference<ReferenceTarget, 'id', unknown, object> ? `${K}Id` : K;
type StoredName<K extends string, F> = IsReference<F> extends true ? `${K}Id` : K;

type Fields<C> = C extends { readonly fields: infer F extends Readonly<Record<string, Field>> } ? F : never;
type Names<C> = keyof Fields<C> & string;
type Writable<C, At extends 'create' | 'update'> = {
  [K in Names<C>]: Fields<C>[K]['options'] extends {
    readonly write: Exclude<'create' | 'update' | 'never', At>;
  }
    ? never
    : K;
}[Names<C>];
type RequiredNames<C> = {
  [K in Names<C>]: Fields<C>[K]['options'] extends { readonly required: true } ? K : never;
}[Names<C>];
type Computed<C> = {
  [K in Names<C>]: Fields<C>[K]['options'] extends { readonly computed: true } ? K : never;
}[Names<C>];
type OfType<C, T extends Field['type']> = {
  [K in Names<C>]: Fields<C>[K]['type'] extends T ? K : never;
}[Names<C>];

/** HTML properties, present if the request includes them. */
type HtmlProperties<C> = {
  [K in Names<C> as Fields<C>[K]['options'] extends { readonly html: true } ? `${K}Html` : never]?: string;
};

/** Object in responses and events. */
export type EntityResponse<C> = Simplify<
  { id: string } & { [K in Names<C>]: Out<Fields<C>[K]> } & {
    version: number;
    createdAt: string;
    updatedAt: string;
  } & (C extends { readonly operations: { readonly restore: unknown } }
      ? { deletedAt: string | null }
      : unknown) &
    HtmlProperties<C>
>;

export function scopeOfContract({ path, scope = path }: Contract, right: 'read' | 'write'): string {
  return `${scope}:${right}`;
}

/**
 * Returns true if deleted objects can be restored. Responses then have `deletedAt`, and lists can include
 * deleted objects.
 */
export function isRestorable({ operations }: Contract): boolean {
  return operations.restore !== undefined;
}

/** Request body of a create operation. */
export type Created<C> = Simplify<
  {
    [K in Extract<RequiredNames<C>, Writable<C, 'create'>> as InputName<K, Fields<C>[K]>]: InputValue<
      Fields<C>[K]
    >;
  } & {
    [K in Exclude<Writable<C, 'create'>, RequiredNames<C>> as InputName<K, Fields<C>[K]>]?: InputValue<
      Fields<C>[K]
    >;
  }
>;

/** Body of an update. */
export type Patch<C> = Simplify<{
  [K in Writable<C, 'update'> as InputName<K, Fields<C>[K]>]?: InputValue<Fields<C>[K]>;
}>;

type StoredActor<K extends string, F extends Field> = {
  readonly [P in `${K}Kind`]: 'user' | 'plugin' | 'system' | OrNull<F>;
} & { readonly [P in `${K}Id` | `${K}Name`]: string | OrNull<F> };
type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void
  ? I
  : never;
type StoredActors<C> = [OfType<C, 'actor'>] extends [never]
  ? unknown
  : UnionToIntersection<{ [K in OfType<C, 'actor'>]: StoredActor<K, Fields<C>[K]> }[OfType<C, 'actor'>]>;

/** Object as stored in its row: references by id, times in milliseconds. */
export type StoredEntity<C> = Simplify<
  { readonly id: string; readonly version: number } & {
    readonly [K in Exclude<Names<C>, Computed<C> | OfType<C, 'actor'>> as StoredName<K, Fields<C>[K]>]: In<
      Fields<C>[K]
    >;
  } & StoredActors<C> & { readonly createdAt: number; readonly updatedAt: number } & (C extends {
      readonly retainsDeleted: true;
    }
      ? { readonly deletedAt: number | null }
      : unknown)
>;

export type EventTypeOf<C> = C extends { readonly events: infer E }
  ? {
      [K in keyof E]: E[K] extends string ? E[K] : E[K] extends readonly string[] ? E[K][number] : never;
    }[keyof E]
  : never;

/** Entry of an object in the directory of a workspace. */
export type Entry<C> = C extends {
  readonly directory: { readonly entryFields: infer N extends readonly string[] };
}
  ? Simplify<
      { readonly id: string } & Pick<StoredEntity<C>, Extract<N[number], keyof StoredEntity<C>>> &
        (C extends { readonly directory: { readonly withDeleted: true } }
          ? { readonly removed: boolean }
          : unknown)
    >
  : never;

/** Declares a resource. The parameter type requires examples that are valid bodies. */
export function defineContract<const C extends Contract>(
  contract: C & { readonly examples?: { readonly create?: Created<C>; readonly update?: Patch<C> } },
): C {
  for (const [name, field] of Object.entries<Field>(contract.fields))
    if (field.type === 'choice') nameWords(`${contract.title}${capital(name)}`, field);
  return contract;
}

/** Names the enumeration of a choice field, so that the OpenAPI document defines it only once. */
function nameWords(name: string, { input, response, options }: Field): void {
  Object.assign(response, { 'x-enum': name });
  Object.assign(input, { 'x-enum': 'aliases' in options ? `${name}Given` : name });
}
