// `tatami trail ENG-12`: why an issue is what it is, as a tree.
import { printable } from '../lib/printable.ts';
import { printResult } from './output.ts';
import { connect, type RemoteOptions } from './remote.ts';

interface Node {
  id: string;
  parentId: string | null;
  kind: 'event' | 'run' | 'delivery';
  at: string;
  type: string | null;
  actor: string | null;
  isUndo: boolean;
  fields: { field: string; from: unknown; to: unknown }[];
  run: {
    plugin: string;
    status: string;
    ms: number | null;
    calls: Record<string, number> | null;
    error: string | null;
    undoneBy: string | null;
  } | null;
  delivery: { webhookId: string; status: string; attempts: number } | null;
}

interface Trail {
  data: { rootId: string; nodes: Node[] }[];
  pageInfo: { hasNextPage: boolean; leftOut: string[] };
}

export interface TrailOptions extends RemoteOptions {
  field?: string;
  limit: string;
}

export async function trail(issue: string, options: TrailOptions): Promise<void> {
  const query = new URLSearchParams({ limit: options.limit });
  if (options.field !== undefined) query.set('field', options.field);
  const shown = await connect(options)<Trail>(
    'GET',
    `/issues/${encodeURIComponent(issue)}/trail?${query.toString()}`,
  );
  printResult(shown, options, (page) => textOf(issue, page));
}

function textOf(issue: string, { data, pageInfo }: Trail): string {
  if (data.length === 0) return `Nothing is known of how ${issue} came to be what it is.`;
  const lines = data.flatMap(({ nodes }) =>
    nodes.map((node) => `${'  '.repeat(depthOf(node, nodes))}${lineOf(node)}`),
  );
  if (pageInfo.leftOut.length > 0)
    lines.push(`This key would show more with ${pageInfo.leftOut.join(' and ')}.`);
  if (pageInfo.hasNextPage) lines.push('There is more: raise --limit.');
  return lines.join('\n');
}

function depthOf({ parentId }: Node, nodes: readonly Node[]): number {
  const parent = nodes.find(({ id }) => id === parentId);
  return parent ? 1 + depthOf(parent, nodes) : 0;
}

function lineOf({ kind, at, type, actor, isUndo, fields, run, delivery, id }: Node): string {
  const time = at.slice(0, 19).replace('T', ' ');
  if (kind === 'delivery')
    return `→ webhook ${delivery!.webhookId}: ${delivery!.status} (${delivery!.attempts} attempts)`;
  if (kind === 'run') return runLine(id, run!);
  const changed = fields.map(({ field, from, to }) => `${field}: ${value(from)} → ${value(to)}`).join(', ');
  const by = `${isUndo ? 'taken back or approved by' : 'by'} ${printable(actor ?? '')}`;
  return `${time}  ${type} ${by}${changed === '' ? '' : `  ${changed}`}`;
}

function runLine(
  id: string,
  { plugin, status, ms, calls, error, undoneBy }: NonNullable<Node['run']>,
): string {
  const made = Object.entries(calls ?? {}).map(([name, count]) => `${count} × ${name}`);
  const parts = [
    ...(ms === null ? [] : [`${Math.round(ms)} ms`]),
    ...made,
    ...(error === null ? [] : [printable(error)]),
    ...(undoneBy === null ? [] : [`undone by ${undoneBy}`]),
  ];
  return `⤷ ${printable(plugin)} ${status} (${id})${parts.length === 0 ? '' : `: ${parts.join(', ')}`}`;
}

const valueCharsMax = 60;

function value(given: unknown): string {
  const named = given as { name?: unknown } | null;
  const text =
    typeof named === 'object' && typeof named?.name === 'string' ? named.name : JSON.stringify(given);
  const line = printable(text);
  return line.length > valueCharsMax ? `${line.slice(0, valueCharsMax)}…` : line;
}
