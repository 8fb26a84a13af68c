import type { EntityResponse } from '../../kernel/contract/contract.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { sampleState } from '../../kernel/samples.ts';
import { workflows as resource } from './workflows.ts';
import type { state } from './contract.ts';

export const workflows = defineFeature({
  name: 'workflows',
  resources: [resource],
  samples: () => ({
    objects: {
      state: { ...sampleState, position: 2, team: 'ENG' } satisfies Partial<EntityResponse<typeof state>>,
    },
    moments: {
      'workflow.state_updated': { previous: { name: 'Doing' } },
    },
  }),
});

export { isFinishedState, firstState, statesOf, findState, stateByName, type StateEntry } from './states.ts';
export { defaultStates } from './workflows.ts';
