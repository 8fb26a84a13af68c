// Report of a backtest: figures, and the issues that people decided differently about.
import { Link } from '@tanstack/react-router';
import type { BacktestReport } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useFilterChoices } from '../../../parts/filter/choices.tsx';
import { choiceOf } from '../../../parts/filter/words.ts';
import type { ChipField } from '../../../parts/filter/filter.ts';
import { text } from '../../../text/automations.ts';
import { fieldWords, valueText } from '../../proposals/values.ts';
import { FailedRuns } from './failed-runs.tsx';
import { useIssues } from '../use-issues.ts';
import { figuresOf } from './figures.ts';

interface ReportProps {
  readonly report: BacktestReport;
}

export function Report({ report }: ReportProps): ReactNode {
  const { fields, effects, others, runs, events, endedBy } = report;
  const hasFailed = runs.failed > 0 && runs.failed === runs.total;
  return (
    <div className="stack" role="status">
      {!hasFailed && <Summary report={report} />}
      <FailedRuns report={report} />
      <p className="soft">{text.runs(runs.total, events.wanted)}</p>
      {endedBy !== null && <p className="notice warning">{text.endedEarly}</p>}
      {fields.length > 1 && <ByField fields={fields} />}
      <Differing effects={effects.filter(({ people }) => people === 'opposite')} />
      <Counts title={text.others} counts={others} />
    </div>
  );
}

function Summary({ report }: ReportProps): ReactNode {
  const { days, issues, changes, same, opposite, nothing } = figuresOf(report);
  if (changes === 0) return <p>{text.noChanges(days)}</p>;
  const start = issues === null ? text.changedFields(days, changes) : text.changedIssues(days, issues);
  return (
    <p>
      <strong>{start}</strong>: {text.people(same, opposite, nothing)}
    </p>
  );
}

function ByField({ fields }: Pick<BacktestReport, 'fields'>): ReactNode {
  return (
    <div className="wide-table">
      <table aria-label={text.byField}>
        <thead>
          <tr>
            <th scope="col">{text.field}</th>
            <th scope="col">{text.changes}</th>
            <th scope="col">{text.same}</th>
            <th scope="col">{text.different}</th>
            <th scope="col">{text.nothing}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ field, wouldChange, same, opposite, nothing }) => (
            <tr key={field}>
              <th scope="row">{fieldWords(field)}</th>
              <td>{wouldChange}</td>
              <td>{same}</td>
              <td>{opposite}</td>
              <td>{nothing}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const shownMax = 20;
type Effects = BacktestReport['effects'];

function Differing({ effects }: { readonly effects: Effects }): ReactNode {
  const shown = effects.slice(0, shownMax);
  const issues = useIssues(shown.map(({ issueId }) => issueId));
  const valueOf = useValueText();
  if (effects.length === 0) return null;
  return (
    <section className="stack">
      <h3>{text.differs}</h3>
      <ul className="stack">
        {shown.map(({ eventId, issueId, field, wouldBe, peopleMadeIt }) => {
          const issue = issues.get(issueId);
          return (
            <li key={`${eventId} ${field}`}>
              <Link to="/issues/$identifier" params={{ identifier: issue?.identifier ?? issueId }}>
                {issue ? `${issue.identifier} ${issue.title}` : issueId}
              </Link>
              <div className="soft">
                {text.differing(fieldWords(field), valueOf(field, wouldBe), valueOf(field, peopleMadeIt))}
              </div>
            </li>
          );
        })}
      </ul>
      {effects.length > shownMax && <p className="soft">{text.moreEffects(effects.length - shownMax)}</p>}
    </section>
  );
}

/** Returns a function that gives the name of a value of a field, such as that of a member. */
export function useValueText(): (field: string, value: unknown) => string {
  const choices = useFilterChoices();
  return (field, value) => {
    const name = field.replace(/Id$/, '') as ChipField;
    const one = typeof value === 'string' ? choiceOf(choices[name] ?? [], value) : undefined;
    return one?.name ?? valueText(value);
  };
}

/** @param what kind and action, such as `comment create` */
function effectWords(what: string): string {
  const [kind = '', action = ''] = what.split(' ');
  const done = text.done[action as keyof typeof text.done];
  return done === undefined ? what : `${fieldWords(kind)} ${done}`;
}

interface CountsProps {
  readonly title: string;
  readonly counts: BacktestReport['others'];
}

function Counts({ title, counts }: CountsProps): ReactNode {
  if (counts.length === 0) return null;
  return (
    <section>
      <h3>{title}</h3>
      <ul>
        {counts.map(({ what, count }) => (
          <li key={what}>{text.countOf(effectWords(what), count)}</li>
        ))}
      </ul>
    </section>
  );
}
