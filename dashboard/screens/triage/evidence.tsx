// Findings of plugins and of the server about an issue: proposals, comments, a suggestion, similar issues.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Client, Issue, Proposal } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { useLabels } from '../../data/directory.ts';
import { useClient } from '../../data/provider.tsx';
import { useWrite } from '../../data/writes.ts';
import { Button } from '../../parts/button.tsx';
import { Markdown } from '../../parts/markdown/markdown.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/triage.ts';
import type { OfferUndo } from './undo.ts';

const similarMax = 5;

export const similarQuery = (client: Client, id: string) =>
  queryOptions({
    queryKey: ['similar', id],
    queryFn: () => client.issues.similar(id, { limit: similarMax }),
  });

interface EvidenceProps {
  readonly issue: Issue;
  readonly offerUndo: OfferUndo;
}

export function Evidence({ issue, offerUndo }: EvidenceProps): ReactNode {
  return (
    <section className="stack">
      <h3>{text.evidence}</h3>
      <Suggestion issue={issue} offerUndo={offerUndo} />
      <Proposals issue={issue} offerUndo={offerUndo} />
      <Remarks issue={issue} />
      <Similar issue={issue} />
    </section>
  );
}

/** Suggestion of the public triage. The section is absent where the server gives none. */
function Suggestion({ issue, offerUndo }: EvidenceProps): ReactNode {
  const client = useClient();
  const write = useWrite();
  const labels = useLabels();
  const suggestion = useQuery({
    queryKey: ['suggestion', issue.id],
    queryFn: () =>
      client.triage.ask({
        issues: [{ title: issue.title, description: issue.description }],
        team: issue.team.key,
      }),
  });
  const found = suggestion.data?.data[0];
  if (!found) return null;
  const known = found.labels.filter((name) => labels.some((label) => label.name === name));
  const use = async (): Promise<void> => {
    const { id, priority } = issue;
    const name = issue.identifier ?? issue.title;
    const added = known.filter((one) => !issue.labels.some((label) => label.name === one));
    const used = await write((of) => of.issues.update(id, { priority: found.priority, addLabels: added }));
    if (!used) return;
    const undo = async (of: Client): Promise<string> => {
      await of.issues.update(id, { priority, removeLabels: added });
      return text.changeUndone(name);
    };
    offerUndo({ id, done: text.prioritySet(name, common.priorities[found.priority]), undo });
  };
  return (
    <div className="card stack">
      <h4>{text.suggestion}</h4>
      <p>{text.suggested(found.kind, found.priority, Math.round(found.confidence * 100))}</p>
      {found.evidence.length > 0 && <p className="soft">{text.because(found.evidence)}</p>}
      <div>
        <Button onClick={() => void use()}>{text.useSuggestion}</Button>
      </div>
    </div>
  );
}

function Proposals({ issue, offerUndo }: EvidenceProps): ReactNode {
  const client = useClient();
  const proposals = useQuery({
    queryKey: ['proposals', 'issue', issue.id],
    // A list has no values, so that each proposal is read once more.
    queryFn: async () => {
      const { data } = await client.proposals.list({ issue: issue.id, status: 'open', limit: 5 });
      return await Promise.all(data.map(({ id }) => client.proposals.get(id)));
    },
  });
  if (!proposals.data || proposals.data.length === 0) return null;
  return (
    <div className="card stack">
      <h4>{text.proposals}</h4>
      {proposals.data.map((proposal) => (
        <ProposalCard key={proposal.id} proposal={proposal} issueId={issue.id} offerUndo={offerUndo} />
      ))}
    </div>
  );
}

const shown = (value: unknown): string => {
  if (value === null || value === undefined) return text.nothing;
  return typeof value === 'string' ? value : JSON.stringify(value);
};

interface ProposalProps extends Pick<EvidenceProps, 'offerUndo'> {
  readonly proposal: Proposal;
  readonly issueId: string;
}

function ProposalCard({ proposal, issueId, offerUndo }: ProposalProps): ReactNode {
  const write = useWrite();
  const { id, title, author, effects, revision } = proposal;
  const approve = async (): Promise<void> => {
    if (!(await write((client) => client.proposals.approve(id, { revision })))) return;
    const undo = async (client: Client): Promise<string> => {
      await client.proposals.undo(id);
      return text.approvalUndone;
    };
    offerUndo({ id: issueId, done: text.approved, undo });
  };
  return (
    <div className="stack">
      <p>
        {title} <span className="soft">{text.by(author.name)}</span>
      </p>
      <ul>
        {effects.flatMap(({ id: effect, fields }) =>
          fields.map(({ name, before, after }) => (
            <li key={effect + name}>{text.change(name, shown(before), shown(after))}</li>
          )),
        )}
      </ul>
      <div className="row">
        <Button onClick={() => void approve()}>{text.approve}</Button>
        <Link to="/proposals/$id" params={{ id }}>
          {text.review(title)}
        </Link>
      </div>
    </div>
  );
}

function Remarks({ issue }: { readonly issue: Issue }): ReactNode {
  const client = useClient();
  const comments = useQuery({
    queryKey: ['comments', issue.id, 'triage'],
    queryFn: async ({ signal }) => (await client.comments.list(issue.id, { limit: 50 }, { signal })).data,
    meta: { follows: [issue.id] },
  });
  const remarks =
    comments.data?.filter(({ author, deletedAt }) => author.kind === 'plugin' && !deletedAt) ?? [];
  if (remarks.length === 0) return null;
  return (
    <div className="card stack">
      <h4>{text.remarks}</h4>
      {remarks.map(({ id, author, body }) => (
        <div key={id}>
          <p className="soft">{author.name}</p>
          <Markdown source={body} />
        </div>
      ))}
    </div>
  );
}

function Similar({ issue }: { readonly issue: Issue }): ReactNode {
  const similar = useQuery(similarQuery(useClient(), issue.id));
  if (!similar.data || similar.data.data.length === 0) return null;
  return (
    <div className="card stack">
      <h4>{text.similar}</h4>
      <ul>
        {similar.data.data.map(({ issue: other, score, evidence }) => (
          <li key={other.id}>
            <Link to="/issues/$identifier" params={{ identifier: other.identifier ?? other.id }}>
              {other.identifier} {other.title}
            </Link>{' '}
            <span className="soft">
              {other.state.name} · {text.score(Math.round(score * 100))} · {text.words(evidence)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
