// Creates a workspace with its owner, its first team, the kind labels and a key with all scopes. Access to
// the data directory is required; the API has no such operation.
import { systemAuthor, type Committer } from '../../kernel/changes/commit.ts';
import type { Services } from '../../kernel/context.ts';
import { newKey } from '../../features/api-keys/index.ts';
import { member } from '../../features/people/contract.ts';
import { memberModel, workspaceModel } from '../../features/people/index.ts';
import { inOneLine } from '../../platform/lib/text/printable.ts';
import { guardedClasses } from '../../platform/lib/guarded-classes.ts';
import { emptyDirectory } from '../../kernel/resource/directory.ts';
import { systemStatement } from '../../platform/store/statement.ts';
import { scopeOf, type Store } from '../../platform/store/store.ts';
import { label } from '../../features/labels/contract.ts';
import { defaultLabels, labelModel } from '../../features/labels/index.ts';
import { teamModel } from '../../features/teams/index.ts';
import { state } from '../../features/workflows/contract.ts';
import { defaultStates } from '../../features/workflows/index.ts';
import { firstKeyOf, setUpLink, unseenOp } from './first-key.ts';

export interface FirstWorkspace {
  readonly workspaceId: string;
  readonly teamId: string;
  readonly teamKey: string;
  readonly userId: string;
  /** Complete API key. Shown once. */
  readonly apiKey: string;
  /** Invitation with which the owner creates an account. Shown once. */
  readonly setUpUrl: string;
}

const anyWorkspace = systemStatement<{ workspace_id: string }>(
  'workspaces.any',
  'the first start checks whether any workspace exists',
  'SELECT workspace_id FROM workspaces LIMIT 1',
);

export async function hasWorkspace(store: Store): Promise<boolean> {
  return (await store.readSystem(anyWorkspace)).length > 0;
}

/** @param input with `isShownLater`, the next start creates another key unless `markFirstKeySeen` was called for this one */
export async function createWorkspace(
  services: Services,
  committer: Committer,
  input: { name: string; teamKey: string; teamName: string; ownerName: string; isShownLater?: boolean },
): Promise<FirstWorkspace> {
  const { ids } = services;
  const now = services.nowMs();
  const times = { createdAt: now, updatedAt: now };
  const workspaceId = ids.uuid();
  const scope = scopeOf(workspaceId);
  const owner = memberModel.create({
    id: ids.next(member.id),
    name: input.ownerName,
    email: null,
    role: 'owner',
    joinedAt: null,
    teams: [],
    deletedAt: null,
    ...times,
  });
  const team = firstTeam(ids.uuid(), input, times);
  const key = newKey(services, firstKeyOf(owner.id));
  const setUp = setUpLink(services, scope, owner.after);
  const committed = await committer.commit(
    systemAuthor(scope, 'setup', emptyDirectory),
    [
      newWorkspace(workspaceId, inOneLine(input.name), times),
      owner,
      team,
      ...defaultStates(team.id, () => ids.next(state.id), now),
      ...defaultLabels.map((one) =>
        labelModel.create({ id: ids.next(label.id), teamId: null, deletedAt: null, ...one, ...times }),
      ),
      key.change,
    ],
    [],
    [setUp.op, ...(input.isShownLater ? [unseenOp(workspaceId, key.change.id)] : [])],
  );
  if (!committed.ok) throw new Error(`Could not create the workspace: ${committed.message}. Try again.`);
  return {
    workspaceId,
    teamId: team.id,
    teamKey: input.teamKey,
    userId: owner.id,
    apiKey: key.text,
    setUpUrl: setUp.url,
  };
}

type Times = Readonly<Record<'createdAt' | 'updatedAt', number>>;

function newWorkspace(id: string, name: string, times: Times) {
  return workspaceModel.create({ id, name, publicTriage: null, guarded: [...guardedClasses], ...times });
}

function firstTeam(
  id: string,
  { teamKey: key, teamName: name }: { readonly teamKey: string; readonly teamName: string },
  times: Times,
) {
  const settings = {
    transitions: null,
    triage: 'off',
    timeZone: 'UTC',
    cycles: null,
    archivedAt: null,
  } as const;
  return teamModel.create({ id, key, name, ...settings, ...times });
}
