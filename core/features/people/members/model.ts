// Model of members, separate from their operations, so that the role rules can read the caller without an
// import cycle.
import { modelOf } from '../../../kernel/resource/model.ts';
import { addressKey } from '../../../platform/lib/address.ts';
import { foldCase } from '../../../platform/lib/text/words.ts';
import { member } from '../contract.ts';

export const memberModel = modelOf(member, {
  // Normalized address for look-ups.
  columns: {
    emailKey: {
      column: 'email_key',
      from: 'email',
      // Addresses stored before normalization can be invalid under the current rules; their key is the
      // case-folded address.
      write: (email) => (typeof email === 'string' ? (addressKey(email) ?? foldCase(email)) : null),
    },
  },
  shows: { teams: ({ teams }, { directory }) => teams.flatMap((id) => directory.teams.get(id)?.key ?? []) },
});
export type Member = NonNullable<Awaited<ReturnType<typeof memberModel.find>>>;
