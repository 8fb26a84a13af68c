// The milestone of an issue is one of its project: one of another is refused, and where the issue moves to another project it is left
// behind.
import type { Directory } from '../../context.ts';
import { invalidField } from '../../lib/errors.ts';
import { idOfName, type Among, type Naming } from '../../resource/names.ts';
import { milestone } from './contract.ts';

interface Place {
  readonly projectId: string | null;
  readonly milestoneId: string | null;
}

/** The body with the id of the milestone in place of its name, which is looked for in the project of the issue. */
export function milestoneGiven<B extends { readonly projectId?: string | null; milestoneId?: string | null }>(
  ctx: Naming,
  issue: Place | null,
  body: B,
  at: string,
): B {
  const { projectId = issue?.projectId ?? null, milestoneId } = body;
  if (typeof milestoneId !== 'string') return body;
  const among: Among = {
    has: (entry) => projectId === null || entry.projectId === projectId,
    words: projectId === null ? '' : ' in the project of the issue',
  };
  return { ...body, milestoneId: idOfName(ctx, milestone, milestoneId, `${at}milestoneId`, among) };
}

/**
 * What a patch makes of the milestone, where it makes anything of it.
 * @param issue as it is; null for a creation
 * @param at before the path in errors
 * @throws ApiError validation_failed
 */
export function milestoneAfter(
  { milestones, projects }: Directory,
  issue: Place | null,
  patch: Partial<Place>,
  at: string,
): Partial<Pick<Place, 'milestoneId'>> {
  const { projectId = issue?.projectId ?? null, milestoneId } = patch;
  if (milestoneId === undefined) return leftBehind(issue, projectId);
  if (milestoneId !== null && milestones.get(milestoneId)?.projectId !== projectId)
    throw ofOther(projectId, at);
  if (milestoneId !== null) requireOpen(projects, projectId, issue?.milestoneId === milestoneId, at);
  return { milestoneId };
}

function leftBehind(issue: Place | null, projectId: string | null): { milestoneId?: null } {
  return issue && issue.milestoneId !== null && projectId !== issue.projectId ? { milestoneId: null } : {};
}

const ofOther = (projectId: string | null, at: string): Error =>
  invalidField(`${at}milestoneId`, 'conflict', {
    why:
      projectId === null
        ? 'The issue is in no project.'
        : "It is a milestone of another project than the issue's.",
    fix: 'Give the projectId of the milestone along, or a milestone of the project of the issue.',
  });

/** @param isOwn true for the milestone that the issue has already @throws ApiError validation_failed */
function requireOpen(
  projects: Directory['projects'],
  projectId: string | null,
  isOwn: boolean,
  at: string,
): void {
  if (projectId === null || isOwn || !projects.get(projectId)?.removed) return;
  throw invalidField(`${at}milestoneId`, 'conflict', {
    why: 'The project of this milestone was deleted.',
    fix: `Give another milestone, or restore the project with POST /api/v1/projects/${projectId}/restore.`,
  });
}

/** Of an issue that comes back: its milestone may be gone meanwhile. */
export function milestoneLeft({ milestones }: Directory, milestoneId: string | null): string | null {
  const found = milestoneId === null ? undefined : milestones.get(milestoneId);
  return found && !found.removed ? found.id : null;
}
