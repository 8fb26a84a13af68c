// Bodies for the issues of a release. They use `issueIds` where the routes of issues use `ids`.
import { Type, type Static } from 'typebox';
import { Closed, namedSchema } from '../../lib/schema.ts';
import { IssueSelection, issueNames } from '../issues/bodies.ts';

export const ReleaseIssuesAdd = namedSchema(
  'ReleaseIssuesAdd',
  Closed({ issueIds: Type.Optional(issueNames), filter: IssueSelection.properties.filter }),
);
export type ReleaseIssuesInput = Static<typeof ReleaseIssuesAdd>;

export const ReleaseIssuesRemove = namedSchema('ReleaseIssuesRemove', Closed({ issueIds: issueNames }));
