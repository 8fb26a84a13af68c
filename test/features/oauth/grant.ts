// Creates a grant without the consent pages.
import { newGrant, type GrantTerms } from '../../../core/features/oauth/grants.ts';
import { directorySection } from '../../../core/kernel/resource/directory.ts';
import { directoryLoaders } from '../../../core/app/features.ts';
import { scopeOf } from '../../../core/platform/store/store.ts';
import type { TestApp } from '../../app.ts';

type GrantInput = Partial<Omit<GrantTerms, 'client'>> & { readonly client?: Partial<GrantTerms['client']> };

/**
 * By default the owner of the first workspace lets an app of another workspace read issues.
 * @returns the grant id
 */
export async function makeGrant(
  { services, committer, workspace }: Pick<TestApp, 'services' | 'committer' | 'workspace'>,
  { client, ...terms }: GrantInput = {},
  workspaceId: string = workspace.workspaceId,
): Promise<string> {
  const scope = scopeOf(workspaceId);
  const directory = await directorySection(services.store, directoryLoaders).load(scope);
  const { memberId = workspace.userId } = terms;
  const change = newGrant(services, {
    redirectHost: 'app.example',
    resource: 'api',
    scopes: ['issues:read'],
    guarded: [],
    ...terms,
    memberId,
    client: {
      id: 'https://app.example/client',
      name: 'Reports',
      kind: 'document',
      verified: false,
      ...client,
    },
  });
  const actor = {
    kind: 'user',
    id: memberId,
    name: directory.members.get(memberId)?.name ?? '',
    memberId,
  } as const;
  const author = { scope, actor, cause: null, requestId: null, traceparent: null, directory };
  const committed = await committer.commit(author, [change]);
  if (!committed.ok) throw new Error(`The grant could not be made: ${committed.message}`);
  return change.id;
}
