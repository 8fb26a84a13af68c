// One root cause of the trail: an event, with the runs, changes and deliveries that it caused.
import { Link } from '@tanstack/react-router';
import type { TrailNode, TrailRoot } from '@tatami/sdk/client';
import type { ReactNode } from 'react';
import { Time } from '../../parts/issue/symbols.tsx';
import { text } from '../../text/issue.ts';
import { sentenceOf } from './sentences.ts';

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
      {sentenceOf(node)} <Time at={node.at} />
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
  const { run } = node;
  if (!run) return sentenceOf(node);
  return run.effects ? `${run.plugin}: ${text.runEffects(run.effects)}` : run.plugin;
}
