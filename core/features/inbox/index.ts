import { equal, idOf } from '../../kernel/checks.ts';
import { defineFeature } from '../../kernel/feature.ts';
import { snoozeTimer } from './model.ts';
import { InboxPreferencesEvent } from './preferences.ts';
import { SystemProblemResponse } from './problem.ts';
import { inbox as resource } from './routes.ts';
import { inboxSamples } from './samples.ts';

export const inbox = defineFeature({
  name: 'inbox',
  resources: [resource],
  timers: [snoozeTimer],
  events: {
    'inbox.preferences_updated': InboxPreferencesEvent,
    'system.problem_raised': SystemProblemResponse,
    'system.problem_cleared': SystemProblemResponse,
  },
  samples: inboxSamples,
  facts: {
    inbox_item: () => [equal('issueId', 'issue_id', ({ issue }) => idOf(issue) ?? null)],
  },
});

export {
  adminsOf,
  archiveItemsAbout,
  itemsFor,
  itemsForAdmins,
  newItem,
  type InboxItemInput,
  withoutTextOfItems,
} from './items.ts';
export { hasNoItems, inboxItemModel, type InboxItemResponse } from './model.ts';
export { listeningTo } from './preferences.ts';
export { problemChanges, reportedKinds, type ReportedKind, type ReportedProblem } from './problem.ts';
