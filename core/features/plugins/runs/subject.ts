// Subject of an event: `event.issue` of a handler is the issue at the start of the run, as the API shows it to the
// plugin. It saves the host call that most handlers begin with, and counts as a read of the run. docs/decisions/0097.
import type { Staging } from '../../../kernel/changes/staging.ts';
import type { Context, Directory } from '../../../kernel/context.ts';
import type { EventRow } from '../../../kernel/events/event.ts';
import { redact } from '../../../kernel/rights/effects.ts';
import { narrowingOf, scopeOfEvent, teamsSeen, type Rights } from '../../../kernel/rights/rights.ts';
import { issue } from '../../issues/contract.ts';
import { issueModel, issueOfPast, type IssueResponse } from '../../issues/index.ts';
import type { Meter } from '../budgets/budget.ts';
import type { PluginDeps } from '../deps.ts';
import { contextOf, cutDescriptions } from '../host-calls/gateway.ts';
import { rightsOfInstall } from '../installs/manifest.ts';
import type { Install } from '../installs/model.ts';
import type { TriedRun } from './attempt.ts';

const readScope = 'issues:read';

/** `issue` is null for a deleted issue. Without `issue`, the event has none, or the plugin cannot see it. */
export type Subject = { readonly issue?: unknown };

const nothing: Subject = {};

/** Returns the subject of the event of a run. @param attempt receives the read and the use of the scope */
export async function subjectOf(
  deps: PluginDeps,
  { item: { scope }, event, world }: TriedRun,
  install: Install,
  { staged, meter }: { readonly staged: Staging; readonly meter: Meter },
): Promise<Subject> {
  const id = event && issueIdOf(event);
  const rights = rightsOfInstall(install);
  if (!id || !mayRead(rights)) return nothing;
  // The event itself counts as a use of its scope.
  if (scopeOfEvent(event.type) !== readScope) meter.useScope(readScope);
  await staged.reads?.begin();
  const directory = world?.past.directory ?? (await deps.directoryOf(scope));
  const ctx = contextOf(deps.services, scope, install, { directory, staged });
  const found = await (world ? issueOfPast(ctx, id, world.past) : issueNow(ctx, id));
  staged.reads?.use();
  return shownTo(rights, directory, found);
}

function shownTo(rights: Rights, directory: Directory, found: IssueResponse | null): Subject {
  const teams = teamsSeen(readScope, rights, directory);
  if (found && teams && !teams.has(found.team.id)) return nothing;
  if (!found || found.deletedAt !== null) return { issue: null };
  const narrowing = narrowingOf(rights, readScope);
  return { issue: cutDescriptions(narrowing ? redact(found, narrowing) : found) };
}

/** Events of an issue and of its parts have the issue as subject; those of a cycle have the cycle. */
function issueIdOf({ subjectId }: EventRow): string | null {
  return subjectId?.startsWith(`${issue.id}_`) ? subjectId : null;
}

function mayRead({ scopes, narrowed }: Rights): boolean {
  return scopes.has(readScope) || (narrowed?.has(readScope) ?? false);
}

async function issueNow(ctx: Context, id: string): Promise<IssueResponse | null> {
  const found = await issueModel.find(ctx, id);
  return found ? issueModel.toResponse(found, ctx) : null;
}
