// Displays proposals with their effects.
import { displayValue } from './runs.ts';

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

export interface Proposal {
  id: string;
  status: string;
  title: string;
  author: { name: string };
  /** App or key that acted for the author; null if none did. */
  through: { kind: string; name: string } | null;
  revision: number;
  effects: Effect[];
  expiresAt: string;
  reason: string | null;
}

/** An app is somebody else than the member it acts for. */
const whoProposes = ({ author, through }: Proposal): string =>
  through?.kind === 'app' ? `${through.name}, for ${author.name}` : author.name;

/** The title of what a plugin proposes names the plugin already. */
const byAuthor = (name: string, title: string): string =>
  title.startsWith(`${name}: `) ? title : `${name}: ${title}`;

export function proposalView(found: Proposal): string {
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

/** Proposals of a list, one per line. */
export function proposalsView(proposals: readonly Proposal[]): string {
  return proposals
    .map((one) => `${one.id} ${one.status.padEnd(15)} ${byAuthor(whoProposes(one), one.title)}`)
    .join('\n');
}
