// Query parameters `fields` and `expand`, which select fields and return whole objects in place of
// references. Both accept a closed list.
import type { Context } from '../../../kernel/context.ts';
import { holderOf } from '../../../kernel/rights/table.ts';
import { responseProperties } from '../../../kernel/contract/schemas.ts';
import { memberModel } from '../../people/index.ts';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { didYouMean } from '../../../platform/lib/text/words.ts';
import { includedHtml } from '../../../kernel/resource/representation.ts';
import { withVersion } from '../../../platform/lib/response-version.ts';
import { projectModel } from '../../projects/index.ts';
import { pageBytesMax } from '../../../platform/store/page.ts';
import { descriptionBytesMax, issue } from '../contract.ts';
import { issueModel, type IssueResponse } from '../model.ts';

const responseFields = Object.keys(responseProperties(issue));
const expandable = ['assignee', 'project', 'parent'] as const;
/** Scope needed to expand a reference, in addition to issues:read. */
const scopeOfExpanded = {
  assignee: 'members:read',
  project: 'projects:read',
  parent: 'issues:read',
} as const;

/** Requested form of issues. Checked before any read, so that an empty page rejects a bad request as well. */
export interface Shape {
  readonly fields: readonly string[] | null;
  readonly expand: readonly (typeof expandable)[number][];
  /** Names of the fields that are added as HTML. */
  readonly include: readonly string[];
  html<S>(response: S): S;
}

export interface ShapeQuery {
  readonly fields?: string;
  readonly expand?: string;
  readonly include?: string;
}

/** Returns true if a long field is requested, as Markdown or as HTML. */
export function includesField(shape: Shape | null, field: string): boolean {
  return !shape?.fields || shape.fields.includes(field) || shape.include.length > 0;
}

/** @throws ApiError validation_failed, insufficient_scope */
export function readShape(caller: Context, query: ShapeQuery): Shape | null {
  if ([query.fields, query.expand, query.include].every((parameter) => parameter === undefined)) return null;
  const fields = query.fields === undefined ? null : namesIn(query.fields);
  requireAmong('fields', fields ?? [], responseFields);
  const names = namesIn(query.expand);
  requireAmong('expand', names, expandable);
  const expand = expandable.filter((name) => names.includes(name));
  for (const name of expand)
    if (!caller.scopes.has(scopeOfExpanded[name]))
      throw new ApiError(
        'insufficient_scope',
        `Expanding ${name} needs the scope ${scopeOfExpanded[name]}, which ${holderOf(caller, scopeOfExpanded[name])} does not have. Leave ${name} out of expand, or ask an admin for the scope.`,
      );
  return { fields, expand, include: namesIn(query.include), html: includedHtml(issue, query) };
}

function namesIn(list: string | undefined): string[] {
  return list?.split(',') ?? [];
}

function requireAmong(parameter: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const fix = `There is no field ${unknown}.${didYouMean(unknown, known)} Choose from ${known.join(', ')}.`;
  throw invalidField(parameter, 'invalid_enum', fix);
}

export async function shapeIssues(
  ctx: Context,
  issues: readonly IssueResponse[],
  shape: Shape | null,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  if (shape === null) return issues;
  const expanded = shape.expand.length === 0 ? issues : await expandReferences(ctx, issues, shape.expand);
  const { fields, include } = shape;
  const response = include.length === 0 ? expanded : expanded.map((one) => shape.html(one));
  return fields === null ? response : response.map((issue) => chooseFields(issue, [...fields, ...include]));
}

/** Selects the named fields and always the id. */
function chooseFields(
  issue: Readonly<Record<string, unknown>>,
  fields: readonly string[],
): Readonly<Record<string, unknown>> {
  const chosen: Record<string, unknown> = { id: issue.id };
  for (const name of fields) chosen[name] = issue[name];
  return withVersion(chosen, issue.version);
}

function expandReferences(
  ctx: Context,
  issues: readonly IssueResponse[],
  names: Shape['expand'],
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  let parentBytes = 0;
  const finders = {
    assignee: async (id: string) =>
      responseOf(await memberModel.find(ctx, id), (entity) => memberModel.toResponse(entity, ctx)),
    project: async (id: string) =>
      responseOf(await projectModel.find(ctx, id), (entity) => projectModel.toResponse(entity, ctx)),
    parent: async (id: string) => {
      const parent = responseOf(await issueModel.find(ctx, id), (entity) =>
        issueModel.toResponse(entity, ctx),
      );
      parentBytes += parent?.description.length ?? 0;
      if (parentBytes > pageBytesMax + descriptionBytesMax)
        throw new ApiError(
          'budget_exceeded',
          'The parents of this page exceed 2 MiB in total. Use a smaller limit, or leave out expand=parent.',
        );
      return parent;
    },
  };
  return Promise.all(
    issues.map(async (issue) => {
      const expanded: Record<string, unknown> = { ...issue };
      for (const name of names) {
        const reference = issue[name];
        if (reference !== null) expanded[name] = (await finders[name](reference.id)) ?? reference;
      }
      return expanded;
    }),
  );
}

/** Returns undefined for a deleted object, so that the plain reference is used. */
function responseOf<E extends object, W>(entity: E | undefined, show: (entity: E) => W): W | undefined {
  return entity === undefined || ('deletedAt' in entity && entity.deletedAt !== null)
    ? undefined
    : show(entity);
}
