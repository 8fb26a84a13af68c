// Schema of the events of runs.
import { Type } from 'typebox';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, enumeration, idOf, namedSchema, nullable } from '../../../platform/lib/schema.ts';
import { proposal } from '../../proposals/contract.ts';
import { plugin } from '../installs/contract.ts';

/** Values of `HandlerKind` in `sdk/plugin/handlers.ts`, which a contract does not import. */
export const handlerKind = enumeration(
  'HandlerKind',
  ['event', 'schedule', 'action', 'route'],
  'Type of the handler.',
);

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** Data of `automation.run` and `automation.failed`. */
export const AutomationRun = namedSchema(
  'AutomationRun',
  Closed({
    runId: idOf(idPrefixes.run, 'Id of the run.'),
    installId: idOf(plugin.id, 'Id of the install.'),
    pluginId: text('Id of the plugin in its manifest.'),
    pluginVersion: nullable(
      text('Version of the plugin that ran; null if the run ended without an attempt.'),
    ),
    handler: text('Event type, or name of the schedule, action or route.'),
    handlerKind,
    eventId: nullable(idOf(idPrefixes.event, 'Id of the event that triggered the run; null if none did.')),
    mode: { ...plugin.fields.mode.response, description: 'Mode of the last attempt.' },
    status: enumeration('RunEnd', ['succeeded', 'dead'], 'Status of the ended run.'),
    attempt: count('Number of attempts.'),
    calls: count('Number of host calls in the last attempt.'),
    changed: count('Number of changed objects, excluding the own values of the plugin and proposed changes.'),
    fetches: count('Number of answered requests to other hosts.'),
    proposalId: nullable(
      idOf(proposal.id, 'Id of the proposal that holds the writes; null if there is none.'),
    ),
    errorCode: nullable(text('Error code of the failure, as `error.code` of the run; null after success.')),
  }),
);
