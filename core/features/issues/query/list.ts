// Lists of issues and their query parameters, which views and search use as well.
import { Type, type TOptional, type TString } from 'typebox';
import { deletedQuery, isListed, whereDeleted, type Deleted } from '../../../kernel/resource/archived.ts';
import { htmlQueryOf } from '../../../kernel/resource/representation.ts';
import { Closed, inputForm, pageQuery } from '../../../platform/lib/schema.ts';
import { issue } from '../contract.ts';
import {
  relationQuery,
  issueReferences,
  relationConditions,
  type RelationQuery,
  issueFiltering,
} from './filter.ts';
import { referenceText } from '../../../kernel/resource/filter/filter.ts';
import { listEntities, type PageParameters } from '../../../kernel/changes/list.ts';
import type { Context } from '../../../kernel/context.ts';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { readMoment } from '../../../platform/lib/filter/filter-value.ts';
import { parseJson } from '../../../platform/lib/json/json.ts';
import { findJsonFault, positionText } from '../../../platform/lib/json/json-fault.ts';
import type { FilterRequest } from '../../../kernel/resource/filter/filtering.ts';
import type { Condition } from '../../../platform/store/page.ts';
import { includesField, readShape, shapeIssues, type ShapeQuery } from './shape.ts';
import { issueModel } from '../model.ts';
import { issueOrder } from './sorting.ts';

const referenceQuery = (name: keyof typeof issueReferences) =>
  Type.Optional(Type.Unsafe<string>(referenceText(issueReferences[name])));

/** Filter parameters of issue lists and of search. */
export const issueFilters = {
  team: referenceQuery('team'),
  state: referenceQuery('state'),
  assignee: referenceQuery('assignee'),
  label: referenceQuery('label'),
  parent: referenceQuery('parent'),
  cycle: referenceQuery('cycle'),
  project: referenceQuery('project'),
  milestone: referenceQuery('milestone'),
  priority: Type.Optional(Type.Unsafe<string>(issue.fields.priority.input)),
  updatedSince: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'Earliest time of the last update, inclusive: ISO 8601, or relative to now, such as `-P7D`.',
    }),
  ),
  filter: Type.Optional(
    Type.String({ maxLength: 8000, description: 'Filter tree as JSON.', [inputForm]: 'json' }),
  ),
};

export const shape = {
  fields: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'Comma-separated fields to return; all others are left out.',
      [inputForm]: 'fields',
    }),
  ),
  expand: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'Comma-separated references to return as whole objects: assignee, project, parent.',
      [inputForm]: 'list',
    }),
  ),
  ...(htmlQueryOf(issue) as { include: TOptional<TString> }),
};
/** Parameters that select the issues of a list, a count or a board. */
export const selectionQuery = { ...issueFilters, ...relationQuery, ...deletedQuery };
export const sortQuery = {
  sort: Type.Optional(
    Type.String({
      maxLength: 200,
      description:
        'Comma-separated sort keys such as `-priority,updatedAt` or `fields.severity`; `-` means descending. Default `-createdAt`.',
    }),
  ),
};
export const listQuery = Closed({
  ...pageQuery,
  ...selectionQuery,
  ...sortQuery,
  ...shape,
});

export type IssueFilters = { [Name in keyof typeof issueFilters]?: string };

export interface SelectionQuery extends IssueFilters, RelationQuery {
  deleted?: Deleted;
}

export interface IssueQuery extends PageParameters, SelectionQuery, ShapeQuery {
  sort?: string;
}

/** @throws ApiError validation_failed, budget_exceeded */
export async function selectionConditions(
  ctx: Context,
  query: SelectionQuery,
  viewFilters: IssueExtras['viewFilters'] = [],
): Promise<Condition[]> {
  return [
    ...whereDeleted(query.deleted),
    ...(await issueFiltering.conditions(ctx, [...viewFilters, ...requestedFilters(query)])),
    ...(await relationConditions(ctx, query)),
  ];
}

/** Conditions in addition to the query parameters. */
export interface IssueExtras {
  /** Filter of a view. */
  readonly viewFilters?: readonly Extract<FilterRequest, { tree: unknown }>[];
  /** Restricts the list to issues of another object, with the id of that object. */
  readonly among?: { readonly id: string; readonly condition: Condition };
}

export async function listIssues(
  ctx: Context,
  query: IssueQuery,
  { viewFilters = [], among }: IssueExtras = {},
) {
  const shape = readShape(ctx, query);
  const order = issueOrder(query.sort, ctx.directory);
  const conditions = await selectionConditions(ctx, query, viewFilters);
  const page = await listEntities(ctx, issueModel, query, {
    where: [...(among ? [among.condition] : []), ...conditions],
    order,
    without: includesField(shape, 'description') ? [] : ['description'],
    filter: (issue) => isListed(query.deleted, issue),
    parameters: {
      ...(viewFilters.length === 0 ? {} : { kept: viewFilters.map(({ tree }) => tree) }),
      ...(among ? { among: among.id } : {}),
    },
  });
  return shape === null ? page : { ...page, data: await shapeIssues(ctx, page.data, shape) };
}

/** Parameters that stand for one condition of the filter tree. */
const flat = [
  'team',
  'state',
  'assignee',
  'label',
  'cycle',
  'project',
  'milestone',
  'parent',
  'priority',
] as const;

export function requestedFilters(query: IssueFilters): FilterRequest[] {
  const requested: FilterRequest[] = [];
  for (const name of flat)
    if (query[name] !== undefined) requested.push({ tree: { [name]: query[name] }, at: '' });
  if (query.updatedSince !== undefined) {
    const value = readMoment('time', query.updatedSince, 'updatedSince');
    requested.push({ filter: { field: 'updatedAt', test: 'gte', value } });
  }
  if (query.filter !== undefined) requested.push({ tree: treeIn(query.filter), at: 'filter' });
  return requested;
}

function treeIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    const fix = 'Give JSON such as {"priority":{"in":["high","urgent"]}}.';
    // The position of a syntax error is useful only in text that looks like an object.
    const fault = text.trimStart().startsWith('{') ? findJsonFault(text) : null;
    if (!fault) throw invalidField('filter', 'invalid_format', fix);
    const why = `The filter is not valid JSON: expected ${fault.expected} at ${positionText(text, fault.at)}.`;
    throw invalidField('filter', 'invalid_format', { why, fix });
  }
}
