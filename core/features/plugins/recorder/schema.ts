import { Type } from 'typebox';
import { Closed, described, enumeration, namedSchema, nullable, time } from '../../../platform/lib/schema.ts';
import { signatureInput } from '../installs/schema.ts';

const text = (description: string) => Type.String({ description });
const whole = (description: string) => Type.Integer({ description });

export const RecordingFactsResponse = namedSchema(
  'RunRecordingFacts',
  Closed({
    bytes: whole('Compressed size on disk in bytes; 0 if not stored.'),
    at: described(time, 'Time at which the recording was stored.'),
    truncated: Type.Boolean({
      description: 'True if the recording exceeded the size limit, so that the run cannot be replayed.',
    }),
  }),
);

const callFields = {
  call: whole('Number of the call, from 1, in call order; timers are calls of `sleep`.'),
  op: text('Operation, such as `issues.update`.'),
  args: text('JSON text of the argument list.'),
};
const Answer = Closed(
  {
    ok: Type.Boolean({ description: 'True if the call succeeded.' }),
    value: Type.Optional(text('JSON text of the answer, if the call succeeded.')),
    error: Type.Optional(
      Closed(
        { code: text('Error code.'), message: text('Error message.') },
        { description: 'Error, if the call failed.' },
      ),
    ),
  },
  { description: 'Answer to the handler.' },
);
const End = Closed(
  {
    status: enumeration('RecordedEnd', ['succeeded', 'failed'], 'Status of the last attempt.'),
    reason: nullable(
      text('Reason of the failure, such as `error`, `retry_later`, `drop` or `cpu`; null after success.'),
    ),
    message: nullable(text('Message of the failure; null after success.')),
    retryAfterMs: nullable(
      Type.Number({ description: 'Delay that the handler requested, in milliseconds; null without one.' }),
    ),
    progress: nullable(Type.Object({}, { description: 'Progress of a schedule: `done`, `of`, `unit`.' })),
    logs: Type.Array(
      Closed({
        level: enumeration('LogLevel', ['debug', 'info', 'warn', 'error'], 'Level of the log line.'),
        message: text('Message of the log line.'),
        atMs: Type.Number({ description: 'Time in milliseconds since 1970.' }),
      }),
      { description: 'Lines written to `ctx.log`.' },
    ),
  },
  { description: 'Outcome of the last attempt.' },
);

export const RecordingResponse = namedSchema(
  'RunRecording',
  Closed({
    format: Type.Literal(1, { description: 'Version of this format.' }),
    sha256: text('SHA-256 hash of the code that ran.'),
    handler: Closed(
      {
        kind: text('Type of the handler: `event`, `schedule`, `action` or `route`.'),
        name: text('Event type, or name of the schedule, action or route.'),
      },
      { description: 'Handler that ran.' },
    ),
    limits: Type.Record(Type.String(), Type.Number(), { description: 'Limits of the run.' }),
    input: text('JSON text of the input: event, run, settings, clock, seed and scopes.'),
    calls: Type.Array(
      Closed({
        ...callFields,
        answer: Answer,
        elapsedMs: Type.Number({
          description: 'Age of the run at the answer by its own clock, in milliseconds.',
        }),
        entry: whole('Group number: answers with the same number were delivered together.'),
      }),
      { description: 'Answered calls, in the order of their answers.' },
    ),
    unanswered: Type.Array(Closed(callFields), { description: 'Calls without an answer at the end.' }),
    end: End,
  }),
);

export const RunReplayInput = namedSchema(
  'RunReplayRequest',
  Closed({
    package: Type.Optional(
      Type.Object(
        {},
        {
          description: 'Other code to run on the same recording: a package written by `tatami plugins pack`.',
        },
      ),
    ),
    signature: signatureInput,
  }),
);

const any = (description: string) => Type.Unknown({ description });

export const RunReplayResponse = namedSchema(
  'RunReplay',
  Closed({
    result: enumeration('ReplayResult', ['identical', 'diverged'], 'Result of the replay.'),
    divergence: nullable(
      Closed(
        {
          call: nullable(whole('Number of the differing call; null if the ends differ.')),
          op: nullable(text('Operation of the differing call.')),
          argument: nullable(whole('Number of the differing argument, from 1.')),
          field: text(
            'JSON pointer into the argument, or into the end: `/status`, `/message`, `/logs/0/message`. Empty if the whole value differs.',
          ),
          recorded: any('Recorded value; null if there was none.'),
          replayed: any('Value in the replay; null if there is none.'),
        },
        { description: 'First difference; null if the replay is identical.' },
      ),
    ),
    cpuMs: Type.Number({ description: 'CPU time of the replay, in milliseconds.' }),
  }),
);
