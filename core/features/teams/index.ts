import { equal } from '../../kernel/checks.ts';
import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { engineering, timeAfter } from '../../kernel/samples.ts';
import { resource } from './operations.ts';
import type { team } from './contract.ts';

export const teams = defineFeature({
  name: 'teams',
  resources: [resource],
  samples: ({ nowMs }) => ({
    objects: {
      team: {
        ...engineering,
        transitions: {},
        triage: 'outside',
        timeZone: 'Europe/Zagreb',
        cycles: { weeks: 2, startsOn: 'monday', cooldownWeeks: 0, ahead: 2, rollsOver: true },
        archivedAt: null,
      } satisfies Partial<EntityResponse<typeof team>>,
    },
    moments: {
      'team.updated': { previous: { name: 'Development' } },
      'team.archived': { now: { archivedAt: timeAfter(nowMs, 0) }, previous: { archivedAt: null } },
      'team.unarchived': { previous: { archivedAt: timeAfter(nowMs, -2) } },
    },
  }),
  facts: {
    team: () => [
      equal('cycles', 'cycles_json', ({ cycles }) => cycles),
      equal('transitions', 'transitions_json', ({ transitions }) => transitions),
    ],
  },
});

export { requireTakesIssues, putOff } from './model.ts';
export { teamQuery, usableInTeam, idsInTeam, namedInTeam } from './team-or-workspace.ts';
export { teamModel } from './model.ts';
