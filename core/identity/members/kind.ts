// How members are stored: apart from what may be done with them, so that the rules of roles can read the caller.
import { kindOf } from '../../resource/kind.ts';
import { member } from './contract.ts';

export const memberKind = kindOf(member, {
  shows: { teams: ({ teams }, { directory }) => teams.flatMap((id) => directory.teams.get(id)?.key ?? []) },
});
export type Member = NonNullable<Awaited<ReturnType<typeof memberKind.find>>>;
