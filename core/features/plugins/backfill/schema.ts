import { Type } from 'typebox';
import { Closed, enumeration, idOf, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import { plugin } from '../installs/contract.ts';

const catchUpStatuses = ['nothing', 'off', 'counting', 'offered', 'running', 'done'] as const;

export const BackfillResponse = namedSchema(
  'CatchUp',
  Closed({
    pluginId: idOf(plugin.id, 'Id of the install.'),
    status: enumeration(
      'CatchUpStatus',
      catchUpStatuses,
      'Status of the backfill. `nothing`: no missed events since the last backfill. `off`: the plugin is disabled and is missing events. `counting`: the plugin is enabled again and its missed events are being counted. `offered`: the count is complete and a backfill can be requested. `running`: the backfill is in progress. `done`: the backfill is complete.',
    ),
    missed: nullable(
      Type.Integer({
        description:
          'Number of missed events that match the subscriptions, plus given-up runs; null until counted.',
      }),
    ),
    runs: Type.Integer({ description: 'Number of runs created so far by this backfill.' }),
  }),
);
