import { defineFeature } from '../../kernel/feature.ts';
import { triageRoutes } from './routes.ts';
import { snooze } from './operations.ts';

export const triage = defineFeature({
  name: 'triage',
  routes: triageRoutes,
  timers: [snooze],
  tagGroup: 'Triage',
  tags: [
    {
      name: 'triage',
      title: 'Public triage',
      doc: 'Type and priority suggestions for issues. Public: needs no token and stores nothing.',
    },
  ],
});
