// One root cause of the trail: an event, with the runs, changes and deliveries that it caused.
import { Link } from '@tanstack/react-router';
import type { TrailNode, TrailRoot } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { Time } from '../../parts/symbols.tsx';
import { text as common } from '../../text/common.ts';
import { text } from '../../text/issue.ts';

interface TrailEntryProps {
  readonly root: TrailRoot;
  /** True to leave out runs and deliveries. */
  readonly isActivity: boolean;
}

export function TrailEntry({ root: { nodes }, isActivity }: TrailEntryProps): ReactNode {
  const [first, ...caused] = nodes.filter(({ kind }) => !isActivity || kind === 'event');
  if (!first) return null;
  return (
    <li>
      <NodeText node={first} />
      {caused.length > 0 && (
        <details>
          <summary className="soft">{caused.map(summaryOf).join(' · ')}</summary>
          <ul>
            {caused.map((node) => (
              <li key={node.id}>
                <NodeText node={node} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function NodeText({ node }: { readonly node: TrailNode }): ReactNode {
  return (
    <p className="soft">
      {sentencesOf(node).join('; ')} <Time at={node.at} />
      {node.kind === 'proposal' && (
        <>
          {' '}
          <Link to="/proposals/$id" params={{ id: node.id }}>
            {node.id}
          </Link>
        </>
      )}
      {node.kind === 'delivery' && (
        <>
          {' '}
          <Link to="/deliveries/$id" params={{ id: node.id }}>
            {node.id}
          </Link>
        </>
      )}
    </p>
  );
}

function summaryOf(node: TrailNode): string {
  const { run, kind, type } = node;
  if (run) return run.effects ? `${run.plugin}: ${text.runEffects(run.effects)}` : run.plugin;
  return type ?? kind;
}

function sentencesOf(node: TrailNode): readonly string[] {
  const { run, delivery, proposal, type } = node;
  if (run) return [text.run(run.plugin, run.handler ?? '', run.error ?? run.status)];
  if (delivery) return [text.delivery(delivery.status, type ?? '')];
  if (proposal) return [text.proposal(proposal.title ?? node.id, proposal.status)];
  return eventSentences(node);
}

function eventSentences({ actor: name, kind, type, fields }: TrailNode): readonly string[] {
  const actor = name ?? text.somebody;
  if (type === 'issue.created') return [text.created(actor)];
  return kind === 'event' && fields.length > 0
    ? fields.map((change) => changeOf(actor, change))
    : [text.did(actor, type ?? kind)];
}

function changeOf(actor: string, { field, from, to }: TrailNode['fields'][number]): string {
  return isLong(from) || isLong(to)
    ? text.changedText(actor, field)
    : text.changed(actor, field, wordsOf(from), wordsOf(to));
}

const longText = 80;
const isLong = (value: unknown): boolean => typeof value === 'string' && value.length > longText;

function wordsOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return common.none;
  if (Array.isArray(value)) return value.length === 0 ? common.none : value.map(wordsOf).join(', ');
  if (typeof value !== 'object') return String(value);
  if ('name' in value) return String(value.name);
  return 'identifier' in value ? String(value.identifier) : JSON.stringify(value);
}
