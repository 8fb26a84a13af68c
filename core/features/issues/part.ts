// Shared storage rules of objects that belong to an issue, such as comments: they show the issue, belong to
// its team, and their events wait for the number of an issue created in the same batch.
import { plain, type Column } from '../../kernel/changes/operations.ts';
import type { Entity } from '../../kernel/changes/change.ts';
import type { Dependency } from '../../kernel/changes/sources.ts';
import type { View } from '../../kernel/context.ts';
import { issueNumber } from './rows.ts';

/** Columns that link an object to its issue. */
interface IssuePart {
  readonly issueId: string;
  /**
   * Team id and number of the issue, separated by a space; the number is empty until the commit assigns it.
   */
  readonly issuePlace: string;
}

/** Team and number of an issue, as values of other objects include them. */
export const placeOfIssue: Dependency = {
  table: 'issues',
  key: null,
  columns: new Set(['team_id', 'number']),
  ignoresInserts: true,
};

/** @param table table whose rows have an `issue_id` */
export function partOfIssue(table: string) {
  const of = (what: string, more = ''): string =>
    `(SELECT ${what} FROM issues AS i WHERE i.workspace_id = :ws AND i.id = ${table}.issue_id${more})`;
  return {
    stored: {
      issueId: plain<string>('issue_id'),
      issuePlace: {
        select: of("i.team_id || ' ' || i.number"),
        cached: {
          dependencies: [placeOfIssue],
          // The issue may have moved since the creation was planned.
          settle: ({ issuePlace, version }: IssuePart & Entity) => (version === 1 ? undefined : issuePlace),
        },
      } as Column<string>,
    },
    options: {
      subjectId: ({ issueId }: IssuePart) => issueId,
      team: {
        of: ({ issuePlace }: IssuePart) => issuePlace.split(' ')[0]!,
        isIn: (list: string) => `EXISTS ${of('1', ` AND i.team_id IN (${list})`)}`,
      },
      commitAssigned: {
        rule: issueNumber,
        field: null,
        of: ({ issueId, issuePlace }: IssuePart) => (issuePlace.endsWith(' ') ? issueId : null),
      },
    },
  };
}

/** Returns the reference to the issue that its parts show. */
export function issueOfPart({ issueId, issuePlace }: IssuePart, { directory }: View) {
  const [teamId = '', number = ''] = issuePlace.split(' ');
  return { id: issueId, identifier: `${directory.teams.get(teamId)?.key ?? ''}-${number}` };
}

/** Returns the columns that link a new part to its issue. */
export function linkToIssue(issue: {
  readonly id: string;
  readonly teamId: string;
  readonly number: number | null;
}): IssuePart {
  return { issueId: issue.id, issuePlace: `${issue.teamId} ${issue.number ?? ''}` };
}
