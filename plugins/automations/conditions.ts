// Conditions of a rule, which the server's filter language decides.
import type { IssueFilter, IssueQuery } from '@tatami/sdk/plugin';
import { relatedQuery } from './select.ts';
import type { Conditions, RuleIssue } from './rule.ts';
import { callOf, type RuleRun } from './run.ts';

/**
 * Tests the conditions on an issue, the cheapest first.
 * @param matched true if `conditions.issue` holds already
 * @returns the first condition that does not hold; null if all hold
 */
export async function unmetCondition(
  run: RuleRun,
  issue: RuleIssue | null,
  matched: boolean,
): Promise<string | null> {
  if (!issue) return 'the trigger has no issue.';
  const { conditions } = run.ctx.settings;
  const { parent, subIssues, relations } = conditions;
  const unmetByParent = parent && unmetExistence(parent, issue);
  if (unmetByParent) return unmetByParent;
  if (conditions.issue && !matched && !(await isAmong(run, { id: issue.id }, conditions.issue)))
    return 'the issue does not match.';
  const unmet = parent && (await unmetParent(run, parent, issue));
  if (unmet) return unmet;
  const unmetSub = subIssues && (await unmetMatch(run, { parent: issue.id }, subIssues, 'sub-issue'));
  if (unmetSub) return unmetSub;
  if (!relations) return null;
  return unmetMatch(run, await relatedQuery(run, issue, relations.type), relations, 'related issue');
}

type ParentCondition = NonNullable<Conditions['parent']>;

function unmetExistence({ exists: mustExist = true }: ParentCondition, { parent }: RuleIssue): string | null {
  if (mustExist === Boolean(parent)) return null;
  return parent ? 'it has a parent.' : 'it has no parent.';
}

async function unmetParent(
  run: RuleRun,
  { filter, subIssues }: ParentCondition,
  { parent }: RuleIssue,
): Promise<string | null> {
  if (!parent) return null;
  if (filter && !(await isAmong(run, { id: parent.id }, filter))) return 'the parent does not match.';
  return subIssues ? unmetMatch(run, { parent: parent.id }, subIssues, 'sub-issue of the parent') : null;
}

function isAmong(run: RuleRun, one: IssueFilter, filter: IssueFilter): Promise<boolean> {
  return exists(run, { filter: { and: [one, filter] } });
}

async function exists(run: RuleRun, query: IssueQuery): Promise<boolean> {
  const { data } = await callOf(run).issues.list({ ...query, fields: 'identifier', limit: 1 });
  return data.length > 0;
}

/** @param query finds the issues; null for none */
async function unmetMatch(
  run: RuleRun,
  query: IssueQuery | null,
  { match, filter }: NonNullable<Conditions['subIssues']>,
  noun: string,
): Promise<string | null> {
  const none = match === 'none' ? null : `it has no ${noun}.`;
  if (!query) return none;
  const matches = (tested: IssueFilter): Promise<boolean> =>
    exists(run, { ...query, filter: query.filter ? { and: [query.filter as IssueFilter, tested] } : tested });
  if (match === 'none') return (await matches(filter)) ? `a ${noun} matches.` : null;
  if (match === 'any') return (await matches(filter)) ? null : `no ${noun} matches.`;
  if (await matches({ not: filter })) return `a ${noun} does not match.`;
  return (await exists(run, query)) ? null : none;
}
