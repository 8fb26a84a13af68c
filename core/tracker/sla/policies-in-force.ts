// Finds the policy of an issue: for each `kind`, the first enabled policy whose filter matches. Sorted lists
// and compiled filters are cached until the policies or the directory change, because every change of an
// issue is checked against all policies.
import type { Entry } from '../../contract/contract.ts';
import type { Directory } from '../../context.ts';
import { parseFilter, type FilterFields } from '../../lib/filter.ts';
import { createSearched, passesOf, type Passes } from '../../lib/filter-match.ts';
import { weekOf } from '../calendars/calendars.ts';
import { issueFiltering } from '../issues/filter.ts';
import type { IssueResponse } from '../issues/kind.ts';
import type { slaPolicy, SlaKind } from '../sla-policies/contract.ts';
import type { SlaTerms } from './counting.ts';

export type PolicyEntry = Entry<typeof slaPolicy>;

const minuteMs = 60_000;
const inOrder = new WeakMap<Directory['slaPolicies'], readonly PolicyEntry[]>();
/** Compiled filters, keyed by the filter fields because a workspace adds custom ones. */
const tests = new WeakMap<FilterFields, WeakMap<PolicyEntry, Passes>>();

function policiesOf({ slaPolicies }: Directory): readonly PolicyEntry[] {
  const known = inOrder.get(slaPolicies);
  if (known) return known;
  const enabled = [...slaPolicies.values()].filter((policy) => policy.enabled && !policy.removed);
  const sorted = enabled.sort((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1));
  inOrder.set(slaPolicies, sorted);
  return sorted;
}

function testOf(directory: Directory, policy: PolicyEntry): Passes {
  const fields = issueFiltering.fieldsIn(directory);
  const cached = tests.get(fields) ?? new WeakMap<PolicyEntry, Passes>();
  tests.set(fields, cached);
  const known = cached.get(policy);
  if (known) return known;
  const passes = passesOf(parseFilter(policy.filter, fields, 'filter', { wasTaken: true }), fields);
  cached.set(policy, passes);
  return passes;
}

/** @param at time of the issue's state; policies created later do not apply */
export function policyFor(
  directory: Directory,
  kind: SlaKind,
  issue: IssueResponse,
  at: number,
): PolicyEntry | undefined {
  const searched = createSearched();
  return policiesOf(directory).find(
    (policy) =>
      policy.kind === kind && policy.createdAt <= at && testOf(directory, policy)(issue, searched, at),
  );
}

export function termsOf({ calendars }: Directory, policy: PolicyEntry): SlaTerms {
  const calendar = policy.calendarId === null ? undefined : calendars.get(policy.calendarId);
  return {
    targetMs: policy.targetMinutes * minuteMs,
    leadMs: policy.atRiskMinutes === null ? null : policy.atRiskMinutes * minuteMs,
    week: calendar ? weekOf(calendar) : null,
  };
}

export function pausesIn({ pausedIn }: PolicyEntry, { id, type }: IssueResponse['state']): boolean {
  return pausedIn.includes(id) || pausedIn.includes(type);
}
