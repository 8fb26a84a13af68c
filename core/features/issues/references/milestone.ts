// Milestones of issues. A milestone must belong to the project of the issue; moving the issue to another
// project clears it.
import type { Directory } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { idOfName, type Among, type Naming } from '../../../kernel/resource/names/names.ts';
import { milestone } from '../../milestones/contract.ts';

interface IssueMilestone {
  readonly projectId: string | null;
  readonly milestoneId: string | null;
}

/** Replaces the name of a milestone in a body by its id, searched in the project of the issue. */
export function resolveMilestone<
  B extends { readonly projectId?: string | null; milestoneId?: string | null },
>(ctx: Naming, issue: IssueMilestone | null, body: B, at: string): B {
  const { projectId = issue?.projectId ?? null, milestoneId } = body;
  if (typeof milestoneId !== 'string') return body;
  const among: Among = {
    has: (entry) => projectId === null || entry.projectId === projectId,
    words: projectId === null ? '' : ' in the project of the issue',
  };
  return { ...body, milestoneId: idOfName(ctx, milestone, milestoneId, `${at}milestoneId`, among) };
}

/**
 * Returns the milestone after a patch, if the patch changes it.
 * @param issue current issue; null for a creation
 * @param at prefix of the path in errors
 * @throws ApiError validation_failed
 */
export function milestoneAfter(
  { milestones, projects }: Directory,
  issue: IssueMilestone | null,
  patch: Partial<IssueMilestone>,
  at: string,
): { readonly milestoneId?: string | null } {
  const { projectId = issue?.projectId ?? null, milestoneId } = patch;
  if (milestoneId === undefined) return leftBehind(issue, projectId);
  if (milestoneId !== null && milestones.get(milestoneId)?.projectId !== projectId)
    throw ofOther(projectId, at);
  if (milestoneId !== null) requireOpen(projects, projectId, issue?.milestoneId === milestoneId, at);
  return { milestoneId };
}

function leftBehind(issue: IssueMilestone | null, projectId: string | null): { milestoneId?: null } {
  return issue && issue.milestoneId !== null && projectId !== issue.projectId ? { milestoneId: null } : {};
}

const ofOther = (projectId: string | null, at: string): Error =>
  invalidField(`${at}milestoneId`, 'conflict', {
    why:
      projectId === null
        ? 'The issue has no project.'
        : 'The milestone belongs to another project than the issue.',
    fix: "Set projectId to the project of the milestone as well, or use a milestone of the issue's project.",
  });

/**
 * @param isOwn true if the issue already has the milestone
 * @throws ApiError validation_failed
 */
function requireOpen(
  projects: Directory['projects'],
  projectId: string | null,
  isOwn: boolean,
  at: string,
): void {
  if (projectId === null || isOwn || !projects.get(projectId)?.removed) return;
  throw invalidField(`${at}milestoneId`, 'conflict', {
    why: 'The project of this milestone was deleted.',
    fix: `Use another milestone, or restore the project with POST /api/v1/projects/${projectId}/restore.`,
  });
}

/** Returns the milestone of a restored issue; null if it was deleted in the meantime. */
export function milestoneLeft({ milestones }: Directory, milestoneId: string | null): string | null {
  const entry = milestoneId === null ? undefined : milestones.get(milestoneId);
  return entry && !entry.removed ? entry.id : null;
}
