// What people call an object that a change is about, by what its event tells.
import type { Change } from './change.ts';
import { ownData } from './diff.ts';

type Data = Readonly<Record<string, unknown>>;

/** `ENG-18`, `ENG-18 blocks ENG-19`, `Ada`; null of what has no name. @param told of the event that the change would make */
export function nameOf(change: Pick<Change, 'kind' | 'id'>, told: Data): string | null {
  if (change.kind === 'issue') return issueName(told);
  const own = ownData(change, told);
  if (change.kind === 'relation' && own !== told)
    return [issueName(told), String(own.type).replaceAll('_', ' '), issueName(own.issue as Data)].join(' ');
  const name = [own.name, own.key, own.tag, own.emoji].find(isText);
  return name ?? (isText(own.title) ? quoted(own.title) : null);
}

/** The issue that it is, is on, or is told of. */
export function issueOf(
  change: Pick<Change, 'kind' | 'id'>,
  told: Data,
): { readonly id: string | null; readonly identifier: string | null } {
  const own = ownData(change, told);
  const about = change.kind === 'issue' || own !== told ? told : ((own.issue ?? {}) as Data);
  return { id: isText(about.id) ? about.id : null, identifier: identifierOf(about) };
}

function issueName(data: Data): string {
  return identifierOf(data) ?? (isText(data.title) ? quoted(data.title) : 'an issue');
}

/** One that moves to another team is called as it was until it is there. */
function identifierOf({ identifier, previous }: Data): string | null {
  const before = (previous as Data | null | undefined)?.identifier;
  return [before, identifier].find((one): one is string => isText(one) && !one.endsWith('-')) ?? null;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const quoted = (title: string): string => `“${title.slice(0, 80).toWellFormed()}”`;
