// Checks at the save of a rule that the objects exist that its actions name, because a run that finds out is dead. Values with an
// expression are left to the run.
import type { Context } from '../../kernel/context.ts';
import type { Entity } from '../../kernel/changes/change.ts';
import { pageOfModel } from '../../kernel/changes/list.ts';
import type { EntityModel } from '../../kernel/changes/model.ts';
import { whereDeleted } from '../../kernel/resource/archived.ts';
import type { Condition } from '../../platform/store/page.ts';
import { ApiError, invalidField } from '../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../platform/lib/text/words.ts';
import { boardModel } from '../boards/index.ts';
import { issueFiltering, issueModel } from '../issues/index.ts';
import { releaseModel } from '../releases/index.ts';
import { hasTemplate, type Action } from './shape.ts';

/** @throws ApiError validation_failed for a name without an object that the caller can see */
export async function requireObjects(ctx: Context, action: Action, at: string): Promise<void> {
  switch (action.type) {
    case 'set':
      return requireFields(ctx, action.fields, `${at}.fields`);
    case 'add':
    case 'remove':
      return requireNamed(ctx, { labels: action.values }, at, 'values');
    case 'move':
      return requireNamed(ctx, { team: action.team, state: action.state }, at);
    case 'relate':
      return requireIssue(ctx, action.issue, `${at}.issue`);
    case 'board':
      return requireOneOf(ctx, boardModel, { kind: 'board', name: action.board, at: `${at}.board` });
    case 'release':
      return requireRelease(ctx, action.release, `${at}.release`);
    case 'create':
      return requireNewIssues(ctx, action, at);
  }
}

async function requireNewIssues(
  ctx: Context,
  { issues, as }: Extract<Action, { type: 'create' }>,
  at: string,
): Promise<void> {
  for (const [index, one] of issues.entries()) {
    const fields = one as Readonly<Record<string, unknown>>;
    const parent = ['parent', 'parentId'].find((name) => name in fields);
    if (parent !== undefined && as !== 'issue')
      throw invalidField(`${at}.issues.${index}.${parent}`, 'conflict', {
        why: 'A sub-issue of the issue of the rule has no other parent.',
        fix: 'Leave the parent out, or add "as": "issue".',
      });
    await requireFields(ctx, fields, `${at}.issues.${index}`);
  }
}

async function requireFields(
  ctx: Context,
  fields: Readonly<Record<string, unknown>>,
  at: string,
): Promise<void> {
  await requireNamed(ctx, fields, at);
  for (const name of ['parent', 'parentId']) await requireIssue(ctx, fields[name], `${at}.${name}`);
  const known = new Set([...ctx.directory.fields.values()].map(({ key }) => key));
  const unknown = Object.keys(fields.fields ?? {}).find((key) => !known.has(key));
  if (unknown !== undefined)
    throw invalidField(`${at}.fields.${unknown}`, 'not_found', {
      why: `There is no custom field ${unknown}.`,
      fix: `Use the key of a custom field.${didYouMean(unknown, known)}`,
    });
}

async function requireIssue(ctx: Context, name: unknown, at: string): Promise<void> {
  if (typeof name !== 'string' || hasTemplate(name)) return;
  const found = await issueModel.find(ctx, name);
  if (!found || found.deletedAt !== null)
    throw invalidField(at, 'not_found', {
      why: `There is no issue ${name}.`,
      fix: 'Use the id or identifier of an existing issue.',
    });
}

const isOpen: Condition = { sql: "status IN ('planned', 'in_progress')", params: {} };

async function requireRelease(ctx: Context, name: string | null, at: string): Promise<void> {
  if (name !== null)
    await requireOneOf(ctx, releaseModel, { kind: 'unpublished release', name, at, where: [isOpen] });
}

interface Wanted {
  /** In words, for errors. */
  readonly kind: string;
  readonly name: string;
  readonly at: string;
  readonly where?: readonly Condition[];
}

async function requireOneOf<E extends Entity & { readonly name: string }, W>(
  ctx: Context,
  model: EntityModel<E, W>,
  { kind, name, at, where = [] }: Wanted,
): Promise<void> {
  if (hasTemplate(name)) return;
  const among = [...whereDeleted(), ...where];
  const isNamed = { sql: '(id = :name OR name = :name)', params: { name } };
  const { data: found } = await pageOfModel(ctx, model, { limit: 1 }, { where: [...among, isNamed] });
  if (found.length > 0) return;
  const { data: others } = await pageOfModel(ctx, model, { limit: 100 }, { where: among });
  const names = others.map((one) => one.name);
  throw invalidField(at, 'not_found', {
    why: `There is no ${kind} ${name}.`,
    fix: `Use its id or name.${didYouMean(name, names)}`,
  });
}

/** Fields of filters whose values are names of objects, by the fields that are written. */
const filterOf: Readonly<Record<string, string>> = {
  ...{ state: 'state', stateId: 'state', assignee: 'assignee', assigneeId: 'assignee' },
  ...{ labels: 'label', addLabels: 'label', removeLabels: 'label' },
  ...{ project: 'project', projectId: 'project', milestone: 'milestone', milestoneId: 'milestone' },
  ...{ team: 'team', teamKey: 'team', teamId: 'team' },
};

/** Checks names in the directory by the filter of the same objects. */
async function requireNamed(ctx: Context, fields: object, at: string, as?: string): Promise<void> {
  for (const [name, value] of Object.entries(fields) as [string, unknown][]) {
    const field = filterOf[name];
    const values = [value ?? []].flat().filter((one) => !hasTemplate(one));
    if (field === undefined || values.length === 0) continue;
    try {
      await issueFiltering.check(ctx, { [field]: values }, at);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error;
      const path = `${at}.${as ?? name}`;
      const details = error.details.map((detail) => ({ ...detail, path }));
      throw new ApiError('validation_failed', error.message.replace(/^[^ ]+: /, `${path}: `), { details });
    }
  }
}
