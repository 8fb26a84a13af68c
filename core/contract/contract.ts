// What a resource is, as plain data that does no I/O: server, SDK, client, command line and documents read the same value.
// What it does beyond the plain operations stands beside it, in code (core/resource/define.ts).
import type { TObject } from 'typebox';
import type { ErrorCode } from '../lib/errors.ts';
import { capital } from '../lib/words.ts';
import type { Field, Reference, Target } from './field.ts';

/** The operations that most resources have; what each does is in core/resource. */
export type PlainOperation = 'list' | 'create' | 'get' | 'update' | 'delete' | 'restore';

interface OperationFacts {
  readonly summary: string;
  readonly description?: string;
  /** Beyond those that every operation of its sort can answer. */
  readonly errors?: readonly ErrorCode[];
  /** Fields that it writes beside those of its body. */
  readonly writes?: readonly string[];
}

export interface Contract extends Target {
  /** Of one object, in events and messages: `project`. */
  readonly name: string;
  /** URL segment, namespace in `ctx` of plugins, noun of its commands: `projects`. */
  readonly path: string;
  /** The namespace of its scopes, where that is another resource's: relations are read by who reads issues. Absent: the path. */
  readonly scope?: string;
  /** Of its schema in the OpenAPI document. */
  readonly title: string;
  readonly doc: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly operations: Readonly<Partial<Record<PlainOperation, string | OperationFacts>>>;
  /** The event of each plain change; `other` are those that special operations make. */
  readonly events: {
    readonly created?: string;
    readonly updated?: string;
    readonly deleted?: string;
    readonly restored?: string;
    /** Of objects that came to be or are only told of. */
    readonly told?: readonly string[];
    /** Of changes, which show `previous`. */
    readonly other?: readonly string[];
    /** What events show beside the object, by their type. */
    readonly beside?: Readonly<Record<string, TObject['properties']>>;
  };
  /** It and its list can be read as they were at a moment (`asOf`). */
  readonly asOf?: true;
  /**
   * Undo of a write: who may ask for it, and by which operation. `values`: the earlier values are put back, by anyone who holds the write
   * scope. `operations`: the operations of its API are asked as the member who undoes, so that their role and every rule decide. `never`:
   * nothing takes it back; the text is the error message, and says what to do instead.
   */
  readonly undo: 'values' | 'operations' | { readonly never: string };
  /** A deleted object keeps its row, and what refers to it keeps meaning something. */
  readonly keepsDeleted?: true;
  /**
   * All that its operations read and write belongs to a team, so a scope narrowed to teams holds for it. Where its `team` may be null, it
   * then belongs to none, and everybody sees it.
   */
  readonly ofTeam?: true;
  /** Each object is one member's, and its operations hold who holds the scope for their own alone to that. */
  readonly ofMember?: true;
  /** Each object is one member's, whom its events name as `member`; the scope that hears those of all members. Absent: it is everybody's. */
  readonly heardBy?: string;
  /** The object that it belongs to: its list and creation stand below that one's path. */
  readonly parent?: Target & { readonly path: string };
  /** Of lists: by time of creation, or ascending by what rows keep under these names. Absent: oldest. */
  readonly order?: 'newest' | 'oldest' | readonly string[];
  /** Held in memory for each workspace under this name, with these of its fields: what its id means to others. */
  readonly directory?: {
    readonly as: string;
    readonly keeps: readonly string[];
    /** Deleted ones stay, marked as such. */
    readonly withDeleted?: true;
  };
  /** Operations that plugins call as `ctx.<path>.<operation>`. */
  readonly calls?: readonly string[];
  readonly examples?: { readonly create?: object; readonly update?: object };
}

/** Path of its list and its creation: below its parent, if it has one. */
export function listPathOf({ path, parent }: Pick<Contract, 'path' | 'parent'>): string {
  return parent ? `/api/v1/${parent.path}/{id}/${path}` : `/api/v1/${path}`;
}

type Simplify<T> = { [K in keyof T]: T[K] } & {};
type OrNull<F extends Field> = F['options'] extends { readonly nullable: true } ? null : never;
type Given<F extends Field> = NonNullable<F['types']>['given'] | OrNull<F>;
type Out<F extends Field> = NonNullable<F['types']>['shown'] | OrNull<F>;
type In<F extends Field> = NonNullable<F['types']>['kept'] | OrNull<F>;
type IsReference<F> = F extends { readonly to: Target } ? true : false;

/** The name under which requests give a field: references to objects end in `Id`. */
type GivenName<K extends string, F> = F extends Reference<Target, 'id', unknown, object> ? `${K}Id` : K;
type KeptName<K extends string, F> = IsReference<F> extends true ? `${K}Id` : K;

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

/** What is shown as HTML where a reader asks for it. */
type ShownHtml<C> = {
  [K in Names<C> as Fields<C>[K]['options'] extends { readonly html: true } ? `${K}Html` : never]?: string;
};

/** An object as answers and events show it. */
export type Shown<C> = Simplify<
  { id: string } & { [K in Names<C>]: Out<Fields<C>[K]> } & {
    version: number;
    createdAt: string;
    updatedAt: string;
  } & (C extends { readonly operations: { readonly restore: unknown } }
      ? { deletedAt: string | null }
      : unknown) &
    ShownHtml<C>
>;

/** The scope that its operations need. */
export function scopeOfContract(
  { path, scope = path }: Pick<Contract, 'path' | 'scope'>,
  right: 'read' | 'write',
): string {
  return `${scope}:${right}`;
}

/** What can be restored is shown with the time of its deletion, and listed while it is deleted. */
export function isRestorable({ operations }: Pick<Contract, 'operations'>): boolean {
  return operations.restore !== undefined;
}

/** The body of a creation. */
export type Created<C> = Simplify<
  {
    [K in Extract<RequiredNames<C>, Writable<C, 'create'>> as GivenName<K, Fields<C>[K]>]: Given<
      Fields<C>[K]
    >;
  } & {
    [K in Exclude<Writable<C, 'create'>, RequiredNames<C>> as GivenName<K, Fields<C>[K]>]?: Given<
      Fields<C>[K]
    >;
  }
>;

/** The body of an update. */
export type Patch<C> = Simplify<{
  [K in Writable<C, 'update'> as GivenName<K, Fields<C>[K]>]?: Given<Fields<C>[K]>;
}>;

type KeptActor<K extends string, F extends Field> = {
  readonly [P in `${K}Kind`]: 'user' | 'plugin' | 'system' | OrNull<F>;
} & { readonly [P in `${K}Id` | `${K}Name`]: string | OrNull<F> };
type UnionToIntersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void
  ? I
  : never;
type KeptActors<C> = [OfType<C, 'actor'>] extends [never]
  ? unknown
  : UnionToIntersection<{ [K in OfType<C, 'actor'>]: KeptActor<K, Fields<C>[K]> }[OfType<C, 'actor'>]>;

/** An object as its row keeps it: references by id, times in milliseconds. */
export type Kept<C> = Simplify<
  { readonly id: string; readonly version: number } & {
    readonly [K in Exclude<Names<C>, Computed<C> | OfType<C, 'actor'>> as KeptName<K, Fields<C>[K]>]: In<
      Fields<C>[K]
    >;
  } & KeptActors<C> & { readonly createdAt: number; readonly updatedAt: number } & (C extends {
      readonly keepsDeleted: true;
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

/** What the directory of a workspace holds of an object. */
export type Entry<C> = C extends { readonly directory: { readonly keeps: infer N extends readonly string[] } }
  ? Simplify<
      { readonly id: string } & Pick<Kept<C>, Extract<N[number], keyof Kept<C>>> &
        (C extends { readonly directory: { readonly withDeleted: true } }
          ? { readonly removed: boolean }
          : unknown)
    >
  : never;

/** Declares a resource. Its examples are bodies that its own fields accept. */
export function defineContract<const C extends Contract>(
  contract: C & { readonly examples?: { readonly create?: Created<C>; readonly update?: Patch<C> } },
): C {
  for (const [name, field] of Object.entries<Field>(contract.fields))
    if (field.type === 'choice') nameWords(`${contract.title}${capital(name)}`, field);
  return contract;
}

/** The document names the words of a choice once, for the object, its filters and parameters. */
function nameWords(name: string, { given, shown, options }: Field): void {
  Object.assign(shown, { 'x-enum': name });
  Object.assign(given, { 'x-enum': 'aliases' in options ? `${name}Given` : name });
}
