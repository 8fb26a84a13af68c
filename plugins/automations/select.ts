// Issues that a rule acts on: those that its filter selects, and relatives of an issue.
import { QuotaExceeded, type IssueFilter, type IssueQuery, type Page } from '@tatami/sdk/plugin';
import type { Relative, RelationType, RuleIssue } from './rule.ts';
import { callOf, type RuleRun } from './run.ts';
import { mentions, renderFilter, type TemplateScope } from './template.ts';
import { failing } from './failure.ts';

const issuesMax = 50;
const relativesMax = 50;
const relationsMax = 100;

/** Fields of an issue except its description, which can exceed the limit of an answer. */
const shortFields = [
  ...[
    'identifier',
    'number',
    'title',
    'state',
    'priority',
    'assignee',
    'creator',
    'team',
    'labels',
    'fields',
  ],
  ...['project', 'milestone', 'parent', 'startedAt', 'completedAt', 'canceledAt', 'estimate', 'cycle'],
  ...['dueDate', 'snoozedUntil', 'slaDueAt', 'externalSource', 'externalId', 'url', 'createdAt', 'updatedAt'],
];

/**
 * Returns the issues that the rule's filter selects, oldest first.
 * @param only ids to which the selection is limited
 */
export async function selectIssues(
  run: RuleRun,
  scope: () => TemplateScope,
  only?: readonly string[],
): Promise<readonly RuleIssue[]> {
  const { issues, conditions, actions } = run.ctx.settings;
  const filter = renderFilter(issues?.filter ?? {}, scope, 'issues.filter');
  if (!filter) {
    run.ctx.log.info('The rule selects no issue: an expression in `issues.filter` has no value.');
    return [];
  }
  const filters = [filter as IssueFilter];
  if (conditions.issue && !run.trigger.issue) filters.push(conditions.issue);
  if (only) filters.unshift({ id: only });
  const limit = Math.min(issues?.limit ?? issuesMax, issuesMax);
  const { data, pageInfo } = await failing('issues', () =>
    listIssues(run, {
      filter: filters.length === 1 ? filters[0] : { and: filters },
      sort: 'createdAt',
      limit,
      ...(mentions(actions, 'description') ? {} : { fields: shortFields }),
    }),
  );
  if (pageInfo.hasNextPage)
    run.ctx.log.info(`More than ${data.length} issues match. The rule acts on the oldest ${data.length}.`);
  return data;
}

/** Lists issues. If their descriptions exceed the limit of an answer, lists fewer. */
async function listIssues(run: RuleRun, query: IssueQuery): Promise<Page<RuleIssue>> {
  for (let limit = query.limit ?? issuesMax; ; limit = Math.ceil(limit / 4))
    try {
      return await callOf(run).issues.list({ ...query, limit });
    } catch (error) {
      if (!(error instanceof QuotaExceeded) || limit === 1) throw error;
    }
}

/** Returns the relatives of an issue that an action acts on. @throws PluginError */
export async function relativesOf(
  run: RuleRun,
  issue: RuleIssue | null,
  on: Relative,
): Promise<readonly RuleIssue[]> {
  if (!issue) return [];
  if (on === 'parent') return issue.parent ? [await callOf(run).issues.get(issue.parent.id)] : [];
  const query =
    on === 'sub_issues' ? { parent: issue.id } : await relatedQuery(run, issue, relationOf[on as Related]);
  if (!query) return [];
  const { data, pageInfo } = await listIssues(run, { ...query, fields: shortFields, limit: relativesMax });
  if (pageInfo.hasNextPage)
    run.ctx.log.warn(`The rule acts on the newest ${data.length} of its relatives "${on}".`);
  return data;
}

type Related = Exclude<Relative, 'issue' | 'parent' | 'sub_issues'>;

const relationOf: Readonly<Record<Related, RelationType>> = {
  blocks: 'blocks',
  blocked_by: 'blocked_by',
  related: 'relates_to',
  duplicates: 'duplicated_by',
  duplicate_of: 'duplicate_of',
};

/**
 * Returns the query for the issues that an issue is related to; null if there are none.
 * @param type all types if omitted
 */
export async function relatedQuery(
  run: RuleRun,
  { id }: RuleIssue,
  type?: RelationType,
): Promise<IssueQuery | null> {
  if (type === 'blocks') return { blockedBy: id };
  if (type === 'blocked_by') return { blocks: id };
  if (type === 'duplicated_by') return { duplicateOf: id };
  const { data } = await callOf(run).relations.list(id, { limit: relationsMax });
  const ids = data.flatMap((one) => (type === undefined || one.type === type ? [one.issue.id] : []));
  return ids.length === 0 ? null : { filter: { id: [...new Set(ids)] } };
}
