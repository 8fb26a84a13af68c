// Displays the trail of an issue, as a tree of causes.
import { printable } from '../../../../platform/lib/text/printable.ts';
import { displayValue } from './runs.ts';

interface Node {
  id: string;
  parentId: string | null;
  kind: 'event' | 'run' | 'proposal' | 'undo' | 'delivery';
  at: string;
  types: string[];
  actor: string | null;
  name: string | null;
  fields: { field: string; from: unknown; to: unknown }[];
  run: {
    plugin: string;
    version: string | null;
    status: string;
    ms: number | null;
    calls: Record<string, number> | null;
    error: string | null;
    undoneBy: string | null;
  } | null;
  proposal: {
    status: string;
    title: string | null;
    decidedBy: string | null;
    undoneBy: string | null;
  } | null;
  undo: { changed: number; skipped: number } | null;
  delivery: { webhookId: string; status: string; attempts: number } | null;
}

interface Tree {
  nodes: Node[];
}

export function trailView(trees: readonly Tree[]): string {
  const lines = trees.flatMap(({ nodes }) =>
    nodes.map((node) => `${'  '.repeat(depthOf(node, nodes))}${lineOf(node)}`),
  );
  return lines.join('\n');
}

function depthOf({ parentId }: Node, nodes: readonly Node[]): number {
  const parent = nodes.find(({ id }) => id === parentId);
  return parent ? 1 + depthOf(parent, nodes) : 0;
}

function lineOf(node: Node): string {
  const { kind, at, actor, run, proposal, undo, delivery, id } = node;
  const time = at.slice(0, 19).replace('T', ' ');
  switch (kind) {
    case 'delivery':
      return `→ webhook ${delivery!.webhookId}: ${delivery!.status} (${delivery!.attempts} attempts)`;
    case 'run':
      return runLine(id, run!);
    case 'proposal':
      return proposalLine(id, proposal!);
    case 'undo':
      return `${time}  ↶ undone by ${printable(actor ?? '')} (${id}): ${undo!.changed} reverted, ${undo!.skipped} skipped`;
    case 'event':
      return `${time}  ${eventLine(node)}`;
  }
}

function eventLine({ types, actor, name, fields }: Node): string {
  const changed = fields.map(({ field, from, to }) => `${field}: ${value(from)} → ${value(to)}`);
  const said = [...(name === null ? [] : [cut(printable(name))]), ...changed].join(', ');
  return `${types.join(', ')} by ${printable(actor ?? '')}${said === '' ? '' : `  ${said}`}`;
}

function proposalLine(
  id: string,
  { status, title, decidedBy, undoneBy }: NonNullable<Node['proposal']>,
): string {
  const parts = [
    `${status.replace('_', ' ')}${decidedBy === null ? '' : ` by ${printable(decidedBy)}`}`,
    ...(title === null ? [] : [printable(title)]),
    ...(undoneBy === null ? [] : [`undone by ${undoneBy}`]),
  ];
  return `⤷ proposal (${id}): ${parts.join(', ')}`;
}

function runLine(
  id: string,
  { plugin, version, status, ms, calls, error, undoneBy }: NonNullable<Node['run']>,
): string {
  const made = Object.entries(calls ?? {}).map(([name, count]) => `${count} × ${name}`);
  const parts = [
    ...(ms === null ? [] : [`${Math.round(ms)} ms`]),
    ...made,
    ...(error === null ? [] : [printable(error)]),
    ...(undoneBy === null ? [] : [`undone by ${undoneBy}`]),
  ];
  return `⤷ ${printable(plugin)}${version === null ? '' : ` ${printable(version)}`} ${status} (${id})${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

const valueCharsMax = 60;

function value(given: unknown): string {
  return cut(printable(displayValue(given)));
}

const cut = (line: string): string =>
  line.length > valueCharsMax ? `${line.slice(0, valueCharsMax)}…` : line;
