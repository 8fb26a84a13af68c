import { fact, storedIn } from '../../kernel/checks.ts';
import { sameValue } from '../../kernel/changes/change.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { members } from './members/members.ts';
import { peopleSamples } from './samples.ts';
import { workspaces } from './workspace.ts';

export const people = defineFeature({
  name: 'people',
  resources: [workspaces, members],
  tagGroup: 'People and access',
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
