// The public shapes of recordings and replays.
import { Type } from 'typebox';
import { Closed, described, enumeration, named, nullable, time } from '../../lib/schema.ts';
import { signatureGiven } from '../installs/schema.ts';

const text = (description: string) => Type.String({ description });
const whole = (description: string) => Type.Integer({ description });

/** In a run. */
export const RecordingFactsShown = named(
  'RunRecordingFacts',
  Closed({
    bytes: whole('What it takes on the disk, compressed; 0 where it was not kept.'),
    at: described(time, 'When it was kept.'),
    truncated: Type.Boolean({ description: 'It would have been too long: the run cannot be replayed.' }),
  }),
);

const asked = {
  call: whole('From 1, in the order in which the handler made its calls; timers are calls of `sleep`.'),
  op: text('The operation, such as `issues.update`.'),
  args: text('JSON text of the list of its arguments.'),
};
const Answer = Closed(
  {
    ok: Type.Boolean({ description: 'Whether it succeeded.' }),
    value: Type.Optional(text('JSON text of the answer, where it did.')),
    error: Type.Optional(
      Closed(
        { code: text('What went wrong, for programs.'), message: text('What went wrong, in words.') },
        { description: 'The error, where it did not.' },
      ),
    ),
  },
  { description: 'What the handler was answered.' },
);
const End = Closed(
  {
    status: enumeration('RecordedEnd', ['succeeded', 'failed'], 'How the last attempt ended.'),
    reason: nullable(text('Why it failed: `error`, `retry_later`, `drop`, `cpu`, …')),
    message: nullable(text('The same in words.')),
    retryAfterMs: nullable(Type.Number({ description: 'What the handler asked to be put off by.' })),
    progress: nullable(
      Type.Object({}, { description: 'How far a schedule had come: `done`, `of`, `unit`.' }),
    ),
    logs: Type.Array(
      Closed({
        level: enumeration('LogLevel', ['debug', 'info', 'warn', 'error'], 'How serious it is.'),
        message: text('What the plugin wrote.'),
        atMs: Type.Number({ description: 'When, in milliseconds since 1970.' }),
      }),
      { description: 'What it wrote to `ctx.log`.' },
    ),
  },
  { description: 'How it came out.' },
);

export const RecordingShown = named(
  'RunRecording',
  Closed({
    format: Type.Literal(1, { description: 'The version of this shape.' }),
    sha256: text('Of the code that ran.'),
    handler: Closed(
      { kind: text('`event` or `schedule`.'), name: text('The event type or the schedule.') },
      { description: 'What was called.' },
    ),
    limits: Type.Record(Type.String(), Type.Number(), { description: 'The limits of the run.' }),
    input: text('The JSON that the handler was given: event, run, settings, clock, seed and scopes.'),
    calls: Type.Array(
      Closed({
        ...asked,
        answer: Answer,
        elapsedMs: Type.Number({ description: 'How old the run then was on its own clock.' }),
        entry: whole('Answers with the same number were given together.'),
      }),
      { description: 'In the order of their answers.' },
    ),
    unanswered: Type.Array(Closed(asked), { description: 'Calls that were open at the end.' }),
    end: End,
  }),
);

export const ReplayGiven = named(
  'RunReplayRequest',
  Closed({
    package: Type.Optional(
      Type.Object(
        {},
        { description: 'Other code for the same recording: a document as `tatami plugin pack` writes it.' },
      ),
    ),
    signature: signatureGiven,
  }),
);

const any = (description: string) => Type.Unknown({ description });

export const ReplayShown = named(
  'RunReplay',
  Closed({
    result: enumeration('ReplayResult', ['identical', 'diverged'], 'Whether it ran as it did then.'),
    divergence: nullable(
      Closed(
        {
          call: nullable(whole('The call that is another one; null where they ended differently.')),
          op: nullable(text('Its operation.')),
          argument: nullable(whole('Which of its arguments differs, from 1.')),
          field: text(
            'JSON pointer into that argument, or of the end: `/status`, `/message`, `/logs/0/message`. Empty where all of it differs.',
          ),
          recorded: any('What it was; null where there was nothing.'),
          replayed: any('What it is now; null where there is nothing.'),
        },
        { description: 'The first thing that came out differently.' },
      ),
    ),
    cpuMs: Type.Number({ description: 'Processor time that the replay took, in milliseconds.' }),
  }),
);
