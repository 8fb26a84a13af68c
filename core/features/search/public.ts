// Public duplicate search: issues of the teams that a workspace opened to the public, by identifier and
// title. For a workspace that is closed or unknown, or a team that is not open, the result is empty, so that
// callers cannot tell these cases apart.
import { workspaceModel } from '../people/index.ts';
import type { Context, Directory, Services } from '../../kernel/context.ts';
import { scopeOf, type Scope } from '../../platform/store/store.ts';
import { issueModel } from '../issues/index.ts';
import { issuesLike } from './similar.ts';

const duplicatesMax = 3;

interface Duplicate {
  readonly identifier: string;
  readonly title: string;
  readonly score: number;
}

interface PublicQuestion {
  /** Id of the workspace. */
  readonly workspace: string;
  readonly team: string | undefined;
  readonly issues: readonly { readonly title: string; readonly description: string }[];
}

/** Returns a list for each issue, in order. Rejects with ApiError budget_exceeded, StoreError. */
export type FindDuplicates = (question: PublicQuestion) => Promise<Duplicate[][]>;

export function createFindDuplicates(
  services: Services,
  directoryOf: (scope: Scope) => Directory | Promise<Directory>,
): FindDuplicates {
  const openTeams = async (ctx: Context, team: string | undefined): Promise<Set<string>> => {
    const workspace = await workspaceModel.find(ctx, ctx.workspaceId);
    const open = (workspace?.publicTriage?.teams ?? []).filter((key) => (team?.toUpperCase() ?? key) === key);
    return new Set(
      [...ctx.directory.teams.values()].flatMap(({ id, key }) => (open.includes(key) ? [id] : [])),
    );
  };
  return async ({ workspace, team, issues }) => {
    const scope = scopeOf(workspace);
    const everything = strangerIn(services, scope, await directoryOf(scope));
    const visibleTeams = await openTeams(everything, team);
    if (visibleTeams.size === 0) return issues.map(() => []);
    const ctx = { ...everything, visibleTeams };
    const duplicates: Duplicate[][] = [];
    for (const issue of issues) {
      const likest = await issuesLike(ctx, issue, { conditions: [], limit: duplicatesMax });
      duplicates.push(
        likest.flatMap(({ other, score }) => {
          const { identifier, title } = issueModel.wire(other, ctx);
          return identifier === null ? [] : [{ identifier, title, score }];
        }),
      );
    }
    return duplicates;
  };
}

function strangerIn(services: Services, scope: Scope, directory: Directory): Context {
  const actor = { kind: 'system', id: 'public-triage', name: 'Public triage' } as const;
  return {
    ...services,
    scope,
    workspaceId: scope.workspaceId,
    directory,
    actor,
    authority: { actor },
    scopes: new Set<string>(),
    narrowed: null,
    visibleTeams: null,
    cause: null,
    requestId: 'public-triage',
    traceparent: null,
    staged: null,
  };
}
