// Bodies for the issues of a release. They use `issueIds` where the routes of issues use `ids`.
import { Type, type Static } from 'typebox';
import { Closed, named } from '../../lib/schema.ts';
import { IssueSelection, issuesNamed } from '../issues/bodies.ts';

export const ReleaseIssuesAdd = named(
  'ReleaseIssuesAdd',
  Closed({ issueIds: Type.Optional(issuesNamed), filter: IssueSelection.properties.filter }),
);
export type ReleaseIssuesInput = Static<typeof ReleaseIssuesAdd>;

export const ReleaseIssuesRemove = named('ReleaseIssuesRemove', Closed({ issueIds: issuesNamed }));
