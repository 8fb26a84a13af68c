// Context of changes that the server makes itself: all teams of the workspace are visible, and all scopes are
// granted.
import { systemAuthor, type Author } from '../changes/commit.ts';
import type { Context, Directory, Services } from '../context.ts';
import { idPrefixes } from '../../platform/lib/ids.ts';
import { allScopes } from '../rights/scopes.ts';
import type { Scope } from '../../platform/store/store.ts';

const everyScope: ReadonlySet<string> = new Set(allScopes);

export interface Acting {
  readonly ctx: Context;
  readonly author: Author;
}

/** @param part component that events name as their actor, such as `sla` */
export function acting(services: Services, scope: Scope, part: string, directory: Directory): Acting {
  const author = systemAuthor(scope, part, directory);
  const ctx: Context = {
    ...services,
    ...author,
    authority: { actor: author.actor },
    workspaceId: scope.workspaceId,
    requestId: services.ids.next(idPrefixes.request),
    scopes: everyScope,
    narrowed: null,
    visibleTeams: null,
    staged: null,
  };
  return { ctx, author };
}
