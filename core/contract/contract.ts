// Definition of a resource as plain data without I/O, which the server, SDK, client, CLI and documents read. Code beyond the default
// operations is in the definition of the resource (core/resource/define.ts).
import type { TObject } from 'typebox';
import type { ErrorCode } from '../lib/errors.ts';
import { capital } from '../lib/words.ts';
import type { Field, Reference, ReferenceTarget } from './field.ts';

/** Default operations, implemented in core/resource. */
export type PlainOperation = 'list' | 'create' | 'get' | 'update' | 'delete' | 'restore';

interface OperationFacts {
  readonly summary: string;
  readonly description?: string;
  /** Error codes in addition to those of every operation of its kind. */
  readonly errors?: readonly ErrorCode[];
  /** Fields written in addition to those of the body. */
  readonly writes?: readonly string[];
}

export interface Contract extends ReferenceTarget {
  /** Singular name, in events and messages: `project`. */
  readonly name: string;
  /** URL segment, namespace in `ctx` of plugins, noun of CLI commands: `projects`. */
  readonly path: string;
  /** Namespace of its scopes, if it is that of another resource: a scope for issues includes relations. Default the path. */
  readonly scope?: string;
  /** Name of its schema in the OpenAPI document. */
  readonly title: string;
  readonly doc: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly operations: Readonly<Partial<Record<PlainOperation, string | OperationFacts>>>;
  /** Event of each default change; `other` are events of custom operations. */
  readonly events: {
    readonly created?: string;
    readonly updated?: string;
    readonly deleted?: string;
    readonly restored?: string;
    /** Events of objects that are created or only announced. */
    readonly announced?: readonly string[];
    /** Events of changes, which have `previous`. */
    readonly other?: readonly string[];
    /** Properties that events have in addition to those of the object, by type. */
    readonly beside?: Readonly<Record<string, TObject['properties']>>;
  };
  /** The object and its list can be read at a past moment (`asOf`). */
  readonly asOf?: true;
  /**
   * Undo of a write. `values`: the previous values are restored, for anyone who has the write scope. `operations`: the operations of the
   * API are called as the member who undoes, so that their role and all rules apply. `never`: the write cannot be undone; the text is the
   * error message, and says what to do instead.
   */
  readonly undo: 'values' | 'operations' | { readonly never: string };
  /** A deleted object keeps its row, so that references to it stay valid. */
  readonly retainsDeleted?: true;
  /**
   * Everything that its operations read and write belongs to a team, so a scope narrowed to teams can be enforced. If its `team` may be
   * null, the object then belongs to no team, and everybody sees it.
   */
  readonly ofTeam?: true;
  /** Each object belongs to one member, and its operations restrict callers whose scope covers only their own objects to these. */
  readonly ofMember?: true;
  /** Each object belongs to one member, `member` in its events. This is the scope to receive those of all members. Default everybody's. */
  readonly subscriptionScope?: string;
  /** Object that it belongs to: the paths of its list and creation are below the path of that object. */
  readonly parent?: ReferenceTarget & { readonly path: string };
  /** Order of lists: by time of creation, or ascending by these names in the row. Default oldest. */
  readonly order?: 'newest' | 'oldest' | readonly string[];
  /** Section of the in-memory directory with its name, and the fields that others need. */
  readonly directory?: {
    readonly as: string;
    readonly entryFields: readonly string[];
    /** Deleted objects stay, marked as removed. */
    readonly withDeleted?: true;
  };
  /** Operations that plugins call as `ctx.<path>.<operation>`. */
  readonly calls?: readonly string[];
  readonly examples?: { readonly create?: object; readonly update?: object };
}

/** Returns the path of the list and the creation: below the parent, if there is one. */
export function listPathOf({ path, parent }: Pick<Contract, 'path' | 'parent'>): string {
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

/** HTML properties, present on request. */
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

/** Returns the scope that its operations need. */
export function scopeOfContract(
  { path, scope = path }: Pick<Contract, 'path' | 'scope'>,
  right: 'read' | 'write',
): string {
  return `${scope}:${right}`;
}

/** True if deleted objects can be restored: they are then shown with the time of deletion, and can be listed. */
export function isRestorable({ operations }: Pick<Contract, 'operations'>): boolean {
  return operations.restore !== undefined;
}

/** Body of a creation. */
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

/** Every event type of a contract. */
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

/** Declares a resource. Its examples must be bodies that its fields accept. */
export function defineContract<const C extends Contract>(
  contract: C & { readonly examples?: { readonly create?: Created<C>; readonly update?: Patch<C> } },
): C {
  for (const [name, field] of Object.entries<Field>(contract.fields))
    if (field.type === 'choice') nameWords(`${contract.title}${capital(name)}`, field);
  return contract;
}

/** Names the words of a choice, so that the document defines them once for the object, its filters and parameters. */
function nameWords(name: string, { input, response, options }: Field): void {
  Object.assign(response, { 'x-enum': name });
  Object.assign(input, { 'x-enum': 'aliases' in options ? `${name}Given` : name });
}
