import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ApiCallError, type Proposal, type ProposalQuery } from '@tatami/sdk/client';
import { useState, type ReactNode } from 'react';
import { usePages } from '../../data/pages.ts';
import { useClient } from '../../data/provider.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/overlay/confirm.tsx';
import { Paged } from '../../parts/paged.tsx';
import { Bar, Empty, Screen } from '../../parts/states.tsx';
import { Time } from '../../parts/issue/symbols.tsx';
import { notify, notifyProblem } from '../../parts/overlay/toast.tsx';
import { text } from '../../text/developers.ts';

type Status = Proposal['status'];

interface ProposalSearch {
  readonly status?: string;
  readonly author?: string;
  readonly issue?: string;
}

export default function Proposals(): ReactNode {
  const client = useClient();
  const search: ProposalSearch = useSearch({ from: '/proposals' });
  const status = (search.status ?? 'open') as Status;
  const query = { ...search, status, limit: 50 } as ProposalQuery;
  const proposals = usePages(['proposals', 'list', query], async (after) =>
    client.proposals.list({ ...query, ...after }),
  );
  return (
    <Screen
      title={text.proposals}
      bars={<Statuses status={status} search={search} />}
      actions={
        status === 'open' &&
        proposals.items &&
        proposals.items.length > 1 && <ApproveAll proposals={proposals.items} onDone={proposals.reload} />
      }
    >
      <Paged pages={proposals} empty={<Empty title={text.noProposals} hint={text.noProposalsHint} />}>
        {(items) => <ProposalTable proposals={items} />}
      </Paged>
    </Screen>
  );
}

function Statuses({
  status,
  search,
}: {
  readonly status: Status;
  readonly search: ProposalSearch;
}): ReactNode {
  const navigate = useNavigate();
  return (
    <Bar label={text.status}>
      {Object.entries(text.proposalStatus).map(([value, name]) => (
        <Button
          key={value}
          aria-pressed={value === status}
          look={value === status ? 'primary' : 'plain'}
          onClick={() => void navigate({ to: '/proposals', search: { ...search, status: value } })}
        >
          {name}
        </Button>
      ))}
    </Bar>
  );
}

function ProposalTable({ proposals }: { readonly proposals: readonly Proposal[] }): ReactNode {
  return (
    <div className="wide-table">
      <table aria-label={text.proposals}>
        <thead>
          <tr>
            <th scope="col">{text.title}</th>
            <th scope="col">{text.author}</th>
            <th scope="col">{text.changes}</th>
            <th scope="col">{text.created}</th>
            <th scope="col">{text.expires}</th>
          </tr>
        </thead>
        <tbody>
          {proposals.map(({ id, title, author, through, effects, createdAt, expiresAt }) => (
            <tr key={id}>
              <th scope="row">
                <Link to="/proposals/$id" params={{ id }}>
                  {title}
                </Link>
              </th>
              <td>
                {author.name} {through && text.through(through.name)}
              </td>
              <td>{effects.length}</td>
              <td>
                <Time at={createdAt} />
              </td>
              <td>
                <Time at={expiresAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** True for a failure that all further approvals would have too. */
const isCommon = (error: unknown): boolean =>
  error instanceof ApiCallError && (error.status === 0 || error.code === 'recent_sign_in_required');

interface ApproveAllProps {
  readonly proposals: readonly Proposal[];
  readonly onDone: () => void;
}

function ApproveAll({ proposals, onDone }: ApproveAllProps): ReactNode {
  const client = useClient();
  const [asks, setAsks] = useState(false);
  const approve = async (): Promise<void> => {
    let done = 0;
    let failed = 0;
    for (const { id, revision } of proposals)
      try {
        await client.proposals.approve(id, { revision });
        done++;
      } catch (error) {
        // The first failure says what to do, such as to confirm the sign-in.
        if (failed++ === 0) notifyProblem(error);
        if (isCommon(error)) break;
      }
    if (done > 0 || failed > 1) notify(text.approvedAll(done, failed));
    onDone();
  };
  return (
    <>
      <Button onClick={() => setAsks(true)}>{text.approveAll}</Button>
      {asks && (
        <Confirm
          title={text.approveAllTitle}
          hint={
            <>
              <p>{text.approveAllCount(proposals.length)}</p>
              <ul className="scroll-box">
                {proposals.map(({ id, title, effects }) => (
                  <li key={id}>
                    {title} ({effects.length})
                  </li>
                ))}
              </ul>
            </>
          }
          action={text.approveAll}
          onClose={() => setAsks(false)}
          onConfirm={() => void approve()}
        />
      )}
    </>
  );
}
