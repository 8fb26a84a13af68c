import { fact, storedIn } from '../../kernel/checks.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { auditRoutes } from './audit/routes.ts';
import { members } from './members/members.ts';
import { workspaces } from './workspace/workspace.ts';
import { peopleSamples } from './samples.ts';

export const people = defineFeature({
  name: 'people',
  resources: [workspaces, members],
  routes: auditRoutes,
  tagGroup: 'People and access',
  tags: [
    {
      name: 'me',
      title: 'Me',
      doc: 'The caller: key, member and workspace of the request.',
    },
    {
      name: 'audit-log',
      title: 'Audit log',
      doc: 'Changes with their author and the key or plugin that was used. Each entry is the event of the change.',
    },
  ],
  samples: peopleSamples,
  facts: {
    member: (references) => [
      fact('teams', ['teams_json'], (row, { data }) => {
        const logged = data.teams as readonly string[] | undefined;
        return (
          logged === undefined ||
          sameValue(
            storedIn(row, 'teams_json'),
            logged.map((key) => references.teamOf(row.workspace_id, key)),
          )
        );
      }),
    ],
  },
});
