// What belongs to an issue, such as a comment: it shows which one, is of its team, and its events learn the number of an issue that the
// same batch makes.
import { plain, type Column } from '../../changes/columns.ts';
import type { View } from '../../context.ts';
import { issueNumber } from './number.ts';

/** What of such an object says where it belongs. */
interface Part {
  readonly issueId: string;
  /** Team id and number of the issue, read along; the number is empty until committed. */
  readonly issuePlace: string;
}

/** @param table whose rows have an `issue_id` */
export function partOfIssue(table: string) {
  const of = (what: string, more = ''): string =>
    `(SELECT ${what} FROM issues AS i WHERE i.workspace_id = :ws AND i.id = ${table}.issue_id${more})`;
  return {
    kept: {
      issueId: plain<string>('issue_id'),
      issuePlace: { select: of("i.team_id || ' ' || i.number") } as Column<string>,
    },
    special: {
      subjectId: ({ issueId }: Part) => issueId,
      team: {
        of: ({ issuePlace }: Part) => issuePlace.split(' ')[0]!,
        isIn: (list: string) => `EXISTS ${of('1', ` AND i.team_id IN (${list})`)}`,
      },
      learns: {
        what: issueNumber,
        of: ({ issueId, issuePlace }: Part) => (issuePlace.endsWith(' ') ? issueId : null),
      },
    },
  };
}

/** The issue as its parts show it. */
export function issueOfPart({ issueId, issuePlace }: Part, { directory }: Pick<View, 'directory'>) {
  const [teamId = '', number = ''] = issuePlace.split(' ');
  return { id: issueId, identifier: `${directory.teams.get(teamId)?.key ?? ''}-${number}` };
}

/** Where the parts of an issue lie. */
export function placeOfIssue(issue: {
  readonly id: string;
  readonly teamId: string;
  readonly number: number | null;
}): Part {
  return { issueId: issue.id, issuePlace: `${issue.teamId} ${issue.number ?? ''}` };
}
