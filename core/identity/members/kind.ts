// How members are stored: apart from what may be done with them, so that the rules of roles can read the caller.
import { kindOf } from '../../resource/kind.ts';
import { addressKey } from '../../lib/address.ts';
import { foldCase } from '../../lib/fold.ts';
import { member } from './contract.ts';

export const memberKind = kindOf(member, {
  // The normal form of the address, by which it is looked up.
  columns: {
    emailKey: {
      column: 'email_key',
      from: 'email',
      // An address from before the normal form can have none. It still counts as itself.
      write: (email) => (typeof email === 'string' ? (addressKey(email) ?? foldCase(email)) : null),
    },
  },
  shows: { teams: ({ teams }, { directory }) => teams.flatMap((id) => directory.teams.get(id)?.key ?? []) },
});
export type Member = NonNullable<Awaited<ReturnType<typeof memberKind.find>>>;
