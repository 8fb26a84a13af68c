import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { Client, Proposal } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { queryClient, useClient } from '../../data/provider.tsx';
import { useRetained } from '../../data/retained.ts';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { Form, TextField, textOf } from '../../parts/fields.tsx';
import { FailedScreen, Loading, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/developers.ts';
import { Evidence } from './evidence.tsx';
import { fieldWords, partsOf, valueText, type DiffPart } from './values.ts';
import styles from './proposals.module.css';

type Effect = Proposal['effects'][number];

/** Changes that are not approved. */
interface Excluded {
  readonly revision: number;
  readonly effects: readonly string[];
}

export default function ProposalPage(): ReactNode {
  const { id } = useParams({ from: '/proposals/$id' });
  const client = useClient();
  const proposal = useQuery({ queryKey: ['proposals', id], queryFn: () => client.proposals.get(id) });
  const [excluded, setExcluded] = useRetained<Excluded>('excluded', { revision: 0, effects: [] });
  if (proposal.error) return <FailedScreen error={proposal.error} retry={() => void proposal.refetch()} />;
  if (!proposal.data) return <Loading />;
  const { title, effects, status, revision } = proposal.data;
  // Only the changes of a plugin run can be approved in part.
  const isDivisible = status === 'open' && proposal.data.source === 'plugin_run' && effects.length > 1;
  // Another revision has other changes.
  const left = new Set(excluded.revision === revision ? excluded.effects : []);
  const toggle = (effect: string): void => {
    if (!left.delete(effect)) left.add(effect);
    setExcluded({ revision, effects: [...left] });
  };
  return (
    <Screen title={title} actions={<Decisions proposal={proposal.data} left={left} />}>
      <div className={styles.review}>
        <div className="stack">
          <Facts proposal={proposal.data} />
          {isDivisible && <p className="soft">{text.partHint}</p>}
          {effects.map((effect) => (
            <EffectCard
              key={effect.id}
              effect={effect}
              {...(isDivisible && { isIncluded: !left.has(effect.id), onToggle: () => toggle(effect.id) })}
            />
          ))}
        </div>
        <Evidence proposal={proposal.data} />
      </div>
    </Screen>
  );
}

function Facts({ proposal }: { readonly proposal: Proposal }): ReactNode {
  const { status, author, through, createdAt, expiresAt, decidedBy, decidedAt, reason, undoneBy } = proposal;
  return (
    <div className="notice stack">
      <p className="row wrap">
        <span className="chip">{text.proposalStatus[status]}</span>
        <span>
          {author.name} {through && text.through(through.name)}
        </span>
        <Time at={createdAt} />
        {status === 'open' && (
          <span className="soft">
            {text.expires} <Time at={expiresAt} />
          </span>
        )}
      </p>
      {decidedBy && decidedAt !== null && (
        <p>
          {text.decidedBy(decidedBy.name)} <Time at={decidedAt} />
        </p>
      )}
      {reason !== null && (
        <p>
          {text.reason}: {reason}
        </p>
      )}
      {undoneBy !== null && <p>{text.isUndone}</p>}
    </div>
  );
}

interface EffectCardProps {
  readonly effect: Effect;
  /** Absent for a change that is decided with all others. */
  readonly isIncluded?: boolean;
  readonly onToggle?: () => void;
}

function EffectCard({ effect, isIncluded, onToggle }: EffectCardProps): ReactNode {
  const { class: kind, name, entityId, issue, fields, decision } = effect;
  // A comment has no name, and its issue says more than its id.
  const shown = `${text.classes[kind]} ${name ?? issue ?? entityId}`;
  // A new object has no values before.
  const isNew = kind === 'create' || kind === 'comment';
  return (
    <section className="card stack">
      <div className="row">
        {onToggle && (
          <input
            type="checkbox"
            aria-label={text.select(shown)}
            checked={isIncluded ?? true}
            onChange={onToggle}
          />
        )}
        <h2 className="grow">{shown}</h2>
        {decision !== null && <span className="chip">{text.decisions[decision]}</span>}
        {issue !== null && (
          <Link to="/issues/$identifier" params={{ identifier: issue }}>
            {issue}
          </Link>
        )}
      </div>
      <table aria-label={`${text.changes}: ${shown}`}>
        <thead>
          <tr>
            <th scope="col">{text.field}</th>
            {!isNew && <th scope="col">{text.before}</th>}
            <th scope="col">{isNew ? text.fieldValue : text.after}</th>
          </tr>
        </thead>
        <tbody>
          {fields.map(({ name: field, before, after }) => (
            <FieldRow key={field} name={fieldWords(field)} before={before} after={after} isNew={isNew} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface FieldRowProps {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  readonly isNew: boolean;
}

function FieldRow({ name, before, after, isNew }: FieldRowProps): ReactNode {
  const parts = partsOf(before, after);
  return (
    <tr>
      <th scope="row">{name}</th>
      {parts ? (
        <td className={styles.value} colSpan={2}>
          <ul>
            {parts.map((part, at) => (
              // The order is fixed, and parts may be equal.
              <Part key={at} part={part} />
            ))}
          </ul>
        </td>
      ) : (
        <>
          {!isNew && (
            <td className={styles.value}>
              <del>{valueText(before)}</del>
            </td>
          )}
          <td className={styles.value}>
            <ins>{valueText(after)}</ins>
          </td>
        </>
      )}
    </tr>
  );
}

function Part({ part: { kind, text: value } }: { readonly part: DiffPart }): ReactNode {
  if (kind === 'same') return <li>{value}</li>;
  const Mark = kind === 'removed' ? 'del' : 'ins';
  return (
    <li>
      <span className="only-read">{text[kind]} </span>
      <span aria-hidden="true">{kind === 'removed' ? '− ' : '+ '}</span>
      <Mark>{value}</Mark>
    </li>
  );
}

interface DecisionsProps {
  readonly proposal: Proposal;
  /** Ids of the changes that are not approved. */
  readonly left: ReadonlySet<string>;
}

function Decisions({ proposal, left }: DecisionsProps): ReactNode {
  const write = useWrite();
  const [rejects, setRejects] = useState(false);
  const { id, status, effects, revision, undoneBy } = proposal;
  const act = async (operation: (client: Client) => Promise<unknown>, done: string): Promise<unknown> => {
    const result = await write(operation, done);
    await queryClient.invalidateQueries({ queryKey: ['proposals'] });
    return result;
  };
  const chosen = effects.filter((effect) => !left.has(effect.id)).map((effect) => effect.id);
  const isPart = left.size > 0;
  const approve = (): void =>
    void act(
      (client) => client.proposals.approve(id, { revision, ...(isPart && { effects: chosen }) }),
      text.approved,
    );
  if (status !== 'open')
    return status !== 'rejected' && status !== 'expired' && undoneBy === null ? (
      <Button onClick={() => void act((client) => client.proposals.undo(id), text.undone)}>
        {text.undo}
      </Button>
    ) : null;
  return (
    <>
      {proposal.source === 'plugin_run' && (
        <Button
          title={text.stale}
          onClick={() => void act((client) => client.proposals.rerun(id), text.saved)}
        >
          {text.rerun}
        </Button>
      )}
      <Button onClick={() => setRejects(true)}>{text.reject}</Button>
      <Button look="primary" disabled={chosen.length === 0} onClick={approve}>
        {isPart ? text.approvePart(chosen.length, effects.length) : text.approve}
      </Button>
      {rejects && (
        <Dialog title={text.reject} isOpen onClose={() => setRejects(false)}>
          <Form
            submit={text.reject}
            onSubmit={(fields) =>
              act(
                (client) => client.proposals.reject(id, { reason: textOf(fields, 'reason') }),
                text.rejected,
              )
            }
            onDone={() => setRejects(false)}
          >
            <TextField label={text.rejectReason} name="reason" required />
          </Form>
        </Dialog>
      )}
    </>
  );
}
