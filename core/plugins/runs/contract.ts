// What the events of runs show.
import { Type } from 'typebox';
import { idPrefixes } from '../../lib/ids.ts';
import { Closed, described, enumeration, idOf, named, nullable } from '../../lib/schema.ts';
import { proposal } from '../../proposals/contract.ts';
import { plugin } from '../installs/contract.ts';

/** Those of `sdk/plugin/handlers.ts`, which a contract does not import. */
export const handlerKind = enumeration(
  'HandlerKind',
  ['event', 'schedule', 'action', 'route'],
  'What calls the handler.',
);

const text = (description: string) => Type.String({ description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

/** `automation.run` and `automation.failed`. */
export const AutomationRun = named(
  'AutomationRun',
  Closed({
    runId: idOf(idPrefixes.run, 'The run.'),
    installId: idOf(plugin.id, 'The install whose run it is.'),
    pluginId: text('What the plugin is called wherever it is installed.'),
    pluginVersion: nullable(text('The version that ran; null where it was ended without an attempt.')),
    handler: text('The event type, or the name of the schedule, action or route.'),
    handlerKind,
    eventId: nullable(idOf(idPrefixes.event, 'The event that it was run for.')),
    mode: described(plugin.fields.mode.shown, 'The mode that it ended in.'),
    status: enumeration('RunEnd', ['succeeded', 'dead'], 'How it ended.'),
    attempt: count('Attempts made.'),
    calls: count('What it asked of the server in its last attempt.'),
    changed: count('Objects that it changed; without what it keeps for itself, and what it proposed.'),
    fetches: count('Requests to other hosts that were answered.'),
    proposalId: nullable(idOf(proposal.id, 'The proposal that holds what it would have written.')),
    errorCode: nullable(text('Why it failed, as `error.code` of the run.')),
  }),
);
