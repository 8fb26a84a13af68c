import { packageFormat } from '../../../../sdk/plugin/manifest.ts';
import { defineRoute, type Route } from '../../../kernel/http/route.ts';
import { idPrefixes } from '../../../platform/lib/ids.ts';
import { Closed, idOf } from '../../../platform/lib/schema.ts';
import { runVisibility, steeringRun } from '../installs/rights.ts';
import { getRecording, type RunReplays } from './replays.ts';
import { RecordingResponse, RunReplayInput, RunReplayResponse } from './schema.ts';

const params = Closed({ id: idOf(idPrefixes.run) });

export function recorderRoutes(replays: RunReplays): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/api/v1/runs/{id}/recording',
      name: 'runs.recording',
      summary: 'Get the recording of a run',
      description:
        'The recording of an ended run has its input, every host call with its answer, its clock and its end. `tatami plugin replay` replays it.',
      scope: 'plugins:write',
      also: runVisibility,
      limit: 'read',
      params,
      errors: ['conflict'],
      responses: { 200: RecordingResponse },
      read: (ctx, { params }) => getRecording(ctx, params.id),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/runs/{id}/replay',
      name: 'runs.replay',
      summary: 'Replay a run and report the first difference',
      description:
        'The replay runs in a fresh isolate with the recorded input, answers and clock. It writes nothing and makes no calls. With `package`, other code runs on the same recording.',
      scope: 'plugins:write',
      also: steeringRun,
      limit: 'write',
      params,
      body: RunReplayInput,
      example: { package: { format: packageFormat } },
      bodyBytesMax: 6 * 1024 * 1024,
      errors: ['conflict', 'unavailable'],
      responses: { 200: RunReplayResponse },
      write: async (ctx, { params, body }) => ({
        changes: [],
        body: await replays.replay(ctx, params.id, body),
        status: 200,
      }),
    }),
  ];
}
