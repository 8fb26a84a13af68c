// Author as an `actor` field stores it: the member behind a key, with the current name.
import type { Context } from '../context.ts';

type StoredAuthor<Name extends string> = { readonly [K in `${Name}Kind`]: 'user' | 'plugin' | 'system' } & {
  readonly [K in `${Name}Id` | `${Name}Name`]: string;
};

/** @param field name of the field in the contract: `creator`, `author` */
export function authorOf<const Name extends string>(
  { actor, directory }: Pick<Context, 'actor' | 'directory'>,
  field: Name,
): StoredAuthor<Name> {
  const author = {
    [`${field}Kind`]: actor.kind === 'plugin' || actor.kind === 'system' ? actor.kind : 'user',
    [`${field}Id`]: actor.memberId ?? actor.id,
    [`${field}Name`]: (actor.memberId && directory.members.get(actor.memberId)?.name) || actor.name,
  };
  // A computed name is a plain string to the compiler.
  return author as StoredAuthor<Name>;
}
