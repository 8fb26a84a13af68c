import { fact, storedIn } from '../../kernel/checks.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { members } from './members.ts';
import { peopleSamples } from './samples.ts';
import { workspaces } from './workspace.ts';

export const people = defineFeature({
  name: 'people',
  resources: [workspaces, members],
  tagGroup: 'People and access',
  samples: peopleSamples,
  facts: {
    member: (references) => [
      fact('teams', ['teams_json'], (row, { data }) => {
        const logged = data.teams as readonly string[] | undefined;
        return (
          logged === undefined ||
          sameValue(
            storedIn(row, 'teams_json'),
            logged.map((key) => references.teamOf(row.workspace_id, key)),
          )
        );
      }),
    ],
  },
});

export {
  accountById,
  accountsByEmail,
  workspaceNamesOf,
  setPasswordOps,
  emailKeyOf,
  isAddressTaken,
  renameOps,
  isAddressClaimed,
  newAccount,
  stillPasswordOp,
  type Account,
  type AccountAddress,
} from './accounts.ts';
export {
  createAuthentication,
  createResume,
  createUses,
  deciding,
  lastUsedIn,
  type Authentication,
  type FindToken,
  type UseRecorder,
} from './authenticate.ts';
export { makerOf, endDelegated, mayHandOut, stillMayOp, type Maker } from './delegation.ts';
export type { LinkDeps, CreationDeps, IdentityDeps } from './deps.ts';
export {
  invitationDays,
  newInvitation,
  createInvitations,
  type InvitedMember,
  type Invitation,
  type Invitations,
} from './invitations.ts';
export { memberModel, membershipOf } from './model.ts';
export { isPresent, callingMember, isAdmin } from './roles.ts';
export { workspaceModel, guardedIn } from './workspace.ts';
