// What a plugin missed while it was off, and how far it has caught up.
import { Type } from 'typebox';
import { Closed, enumeration, idOf, named, nullable } from '../../lib/schema.ts';
import { plugin } from '../installs/contract.ts';

const catchUpStatuses = ['nothing', 'off', 'counting', 'offered', 'running', 'done'] as const;

export const CatchUpShown = named(
  'CatchUp',
  Closed({
    pluginId: idOf(plugin.id, 'The install.'),
    status: enumeration(
      'CatchUpStatus',
      catchUpStatuses,
      '`nothing`: it missed nothing; as the answer to a request, nothing since it last caught up. `off`: the plugin is off and misses events now. `counting`: it is on again. `offered`: what it missed is counted and waits for your request. `running`, `done`: it is caught up.',
    ),
    missed: nullable(
      Type.Integer({
        description: 'Events that its subscriptions want and runs that were given up, once counted.',
      }),
    ),
    runs: Type.Integer({ description: 'Runs made so far of what it missed this time.' }),
  }),
);
