// `tatami proposals list|show|approve|reject`.
import { wholeNumber } from './lib/flags.ts';
import { printResult } from './lib/output.ts';
import { sayingOf } from './lib/lookup.ts';
import { displayValue } from './plugin/runs.ts';
import { connect, readAll, type RemoteOptions } from './lib/remote.ts';

interface Effect {
  id: string;
  operation: string;
  kind: string;
  entityId: string;
  name: string | null;
  issue: string | null;
  class: string;
  fields: { name: string; before?: unknown; after?: unknown }[];
  decision: string | null;
}

interface Proposal {
  id: string;
  status: string;
  title: string;
  author: { name: string };
  /** What acted for the author. */
  through: { kind: string; name: string } | null;
  revision: number;
  effects: Effect[];
  expiresAt: string;
  reason: string | null;
}

const pathOf = (id: string): string => `/proposals/${encodeURIComponent(id)}`;

export interface ListProposalsOptions extends RemoteOptions {
  all?: boolean;
}

export async function listProposals(options: ListProposalsOptions): Promise<void> {
  const all = await readAll<Proposal>(
    connect(options),
    options.all ? '/proposals' : '/proposals?status=open',
  );
  printResult(all, options, (found) =>
    found.length === 0
      ? 'No proposals are open.'
      : found
          .map((one) => `${one.id} ${one.status.padEnd(15)} ${byAuthor(whoProposes(one), one.title)}`)
          .join('\n'),
  );
}

/** An app is somebody else than the member it acts for. */
const whoProposes = ({ author, through }: Proposal): string =>
  through?.kind === 'app' ? `${through.name}, for ${author.name}` : author.name;

/** The title of what a plugin proposes names the plugin already. */
const byAuthor = (name: string, title: string): string =>
  title.startsWith(`${name}: `) ? title : `${name}: ${title}`;

export async function showProposal(id: string, options: RemoteOptions): Promise<void> {
  const found = connect(options)<Proposal>('GET', pathOf(id));
  printResult(await sayingOf('proposal', id, found), options, linesOf);
}

export interface ApproveOptions extends RemoteOptions {
  effects?: string;
  /** By default the first. */
  revision?: string;
}

export async function approveProposal(id: string, options: ApproveOptions): Promise<void> {
  const body = {
    ...(options.effects === undefined ? {} : { effects: options.effects.split(',') }),
    ...(options.revision === undefined
      ? {}
      : { revision: wholeNumber('--revision', options.revision, 1, 1_000_000) }),
  };
  await decide(id, 'approve', body, options);
}

export interface RejectOptions extends RemoteOptions {
  reason: string;
}

export async function rejectProposal(id: string, options: RejectOptions): Promise<void> {
  await decide(id, 'reject', { reason: options.reason }, options);
}

async function decide(
  id: string,
  decision: 'approve' | 'reject',
  body: object,
  options: RemoteOptions,
): Promise<void> {
  const decided = connect(options)<Proposal>('POST', `${pathOf(id)}/${decision}`, body);
  printResult(await sayingOf('proposal', id, decided), options, linesOf);
}

function linesOf(found: Proposal): string {
  const { id, status, title, revision, effects, expiresAt, reason } = found;
  const until = status === 'open' ? `, until ${expiresAt}` : '';
  return [
    `${id}  ${status}, revision ${revision}, by ${whoProposes(found)}${until}`,
    title,
    ...(reason === null ? [] : [`Reason: ${reason}`]),
    ...effects.flatMap(effectLines),
  ].join('\n');
}

/** Values are absent of what the caller may not read. */
const valueOf = (value: unknown): string => (value === undefined ? 'not shown' : displayValue(value));

function effectLines({ id, class: does, kind, name, issue, entityId, fields, decision }: Effect): string[] {
  const on = issue === null || kind === 'issue' || kind === 'relation' ? '' : ` on ${issue}`;
  return [
    `${id.padStart(3)}  ${does} ${kind} ${name ?? entityId}${on}${decision === null ? '' : ` (${decision})`}`,
    ...fields.map(({ name, before, after }) => `       ${name}: ${valueOf(before)} → ${valueOf(after)}`),
  ];
}
