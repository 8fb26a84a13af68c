// The report of a backtest, and of an upgrade gate, as the API shows them.
import { Type, type Static } from 'typebox';
import { Closed, described, enumeration, idOf, named, nullable, time } from '../../lib/schema.ts';
import { idPrefixes } from '../../lib/ids.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const ms = (description: string) => Type.Number({ minimum: 0, description });
const any = (description: string) => Type.Unknown({ description });
const eventId = idOf(idPrefixes.event, 'The event that it ran for.');
const issueId = Type.String({ description: 'The issue.' });
const fieldName = Type.String({ description: 'The field; of a custom field `fields.<key>`.' });

const agreements = ['same', 'opposite', 'nothing'] as const;
export type Agreement = (typeof agreements)[number];
const agreement = enumeration(
  'BacktestAgreement',
  agreements,
  'What people made of the field within 7 days after: the same, something else, or nothing.',
);

const FieldTotals = Closed({
  field: fieldName,
  wouldChange: count('Times that it would have been changed, each value of an issue once.'),
  same: count('Of these, people then made it the same.'),
  opposite: count('People made it something else.'),
  nothing: count('Nobody touched it.'),
  agreement: nullable(
    Type.Number({ description: 'Percent of those that people touched which were the same.' }),
  ),
  thenSame: count('The version that was installed then made it the same.'),
  thenOther: count('That version made it something else.'),
});
export type FieldReport = Static<typeof FieldTotals>;

const Counted = Closed({
  what: Type.String({ description: 'Kind and action, such as `comment create`; of failures the code.' }),
  count: count('How often.'),
  samples: Type.Array(Type.Unknown(), { description: 'The first few.' }),
});
export type Sampled = Static<typeof Counted>;

const EffectShown = Closed({
  eventId,
  sequence: count('Its place in the log, whose state the run saw.'),
  at: described(time, 'When it happened.'),
  issueId,
  field: fieldName,
  before: any('What it was then.'),
  wouldBe: any('What it would have been made, cut to 1,000 characters.'),
  people: agreement,
  peopleMadeIt: any('What the next person made of it; null where nobody did.'),
  runMadeIt: any('What the version made of it that was installed then; null where it did nothing.'),
});

export const BacktestReport = named(
  'BacktestReport',
  Closed({
    window: Closed(
      {
        since: described(time, 'Events from here on.'),
        until: described(time, 'Events up to here.'),
        toSequence: count('The last event of the window.'),
      },
      { description: 'The time whose events it ran for.' },
    ),
    events: Closed(
      {
        looked: count('Events of the window that were looked at.'),
        wanted: count('Those that its subscriptions want.'),
        cut: count('Of these, cut as loops are.'),
      },
      { description: 'How many events there were.' },
    ),
    endedBy: nullable(
      enumeration('BacktestLimit', ['events', 'cpu'], 'The limit at which it ended ahead of its window.'),
    ),
    runs: Closed(
      { total: count('Runs.'), succeeded: count('Well.'), failed: count('Not.') },
      { description: 'How its runs ended.' },
    ),
    fields: Type.Array(FieldTotals, { description: 'Totals by field of issues that were there.' }),
    effects: Type.Array(EffectShown, { description: 'One by one, the first 500.' }),
    effectsLeftOut: count('Effects beyond those.'),
    effectsRepeated: count('Effects that came again for the same issue: nothing of a trial is kept.'),
    others: Type.Array(Counted, {
      description: 'What would have been made, and changed of what is no issue.',
    }),
    failures: Type.Array(Counted, {
      description: 'Runs that failed, by code and by what their messages have in common.',
    }),
    asOfNow: Type.Array(
      Closed({ operation: Type.String({ description: 'Such as `comments.list`.' }), reads: count('Reads.') }),
      { description: 'Reads that the log does not answer for the past: they were answered as of now.' },
    ),
    costs: Closed(
      {
        calls: count('Calls of the server.'),
        callsRefused: count('Calls to the outside that were refused.'),
        cpuMs: ms('Processor time of all runs, in milliseconds.'),
        cpuMsP50: ms('Of a run in the middle.'),
        cpuMsP95: ms('Of 95 in 100 at most.'),
        perDay: Closed(
          { runs: ms('Runs.'), cpuMs: ms('Milliseconds.'), calls: ms('Calls.') },
          { description: 'The same for each day of the window.' },
        ),
      },
      { description: 'What its runs cost.' },
    ),
  }),
);
export type BacktestReport = Static<typeof BacktestReport>;

export const GateReport = named(
  'GateReport',
  Closed({
    runs: count('Runs of the installed version that both were run for again.'),
    same: count('Runs in which both would do the same.'),
    different: count('Runs in which they would not.'),
    differences: Type.Array(
      Closed({
        eventId,
        type: Type.String({ description: 'Its type.' }),
        at: described(time, 'When it happened.'),
        fields: Type.Array(
          Closed({
            object: Type.String({ description: 'The kind, and the id of what was there.' }),
            field: Type.String({ description: 'The field; `error` where one of them failed.' }),
            old: any('What the installed version would make it; null for nothing.'),
            new: any('What the other version would make it; null for nothing.'),
          }),
          { description: 'What they would make differently.' },
        ),
      }),
      { description: 'Runs in which they would not do the same, the first of them.' },
    ),
  }),
);
export type GateReport = Static<typeof GateReport>;
