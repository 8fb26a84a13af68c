// Author as an `actor` field stores it: for a key, the member who owns the key, with the current name.
import type { Directory } from '../context.ts';
import type { Actor } from '../events/log/origin.ts';

type StoredAuthor<Name extends string> = { readonly [K in `${Name}Kind`]: 'user' | 'plugin' | 'system' } & {
  readonly [K in `${Name}Id` | `${Name}Name`]: string;
};

interface AuthorSource {
  readonly actor: Actor;
  readonly directory: Directory;
}

/** @param field name of the field in the contract: `creator`, `author` */
export function authorOf<const Name extends string>(
  { actor, directory }: AuthorSource,
  field: Name,
): StoredAuthor<Name> {
  const author = {
    [`${field}Kind`]: actor.kind === 'plugin' || actor.kind === 'system' ? actor.kind : 'user',
    [`${field}Id`]: actor.memberId ?? actor.id,
    [`${field}Name`]: (actor.memberId && directory.members.get(actor.memberId)?.name) || actor.name,
  };
  // The compiler types a computed property name as `string`.
  return author as StoredAuthor<Name>;
}
