// Display name of a changed object, from the data of its event.
import type { Change } from './change.ts';
import { ownData } from './diff.ts';

type Data = Readonly<Record<string, unknown>>;

/**
 * Returns a name such as `ENG-18`, `ENG-18 blocks ENG-19` or `Ada`; null for an object without a name.
 * @param eventData data of the event that the change would emit
 */
export function nameOf(change: Change, eventData: Data): string | null {
  if (change.kind === 'issue') return issueName(eventData);
  const own = ownData(change, eventData);
  if (change.kind === 'relation' && own !== eventData)
    return [issueName(eventData), String(own.type).replaceAll('_', ' '), issueName(own.issue as Data)].join(
      ' ',
    );
  const name = [own.name, own.key, own.tag, own.emoji].find(isText);
  return name ?? (isText(own.title) ? quoted(own.title) : null);
}

/** Returns the issue that the object is or belongs to. */
export function issueOf(
  change: Change,
  eventData: Data,
): { readonly id: string | null; readonly identifier: string | null } {
  const own = ownData(change, eventData);
  const about = change.kind === 'issue' || own !== eventData ? eventData : ((own.issue ?? {}) as Data);
  return { id: isText(about.id) ? about.id : null, identifier: identifierOf(about) };
}

function issueName(data: Data): string {
  return identifierOf(data) ?? (isText(data.title) ? quoted(data.title) : 'an issue');
}

/** Prefers the previous identifier: an issue that moves to another team has no new one before the commit. */
function identifierOf({ identifier, previous }: Data): string | null {
  const before = (previous as Data | null | undefined)?.identifier;
  return [before, identifier].find((one): one is string => isText(one) && !one.endsWith('-')) ?? null;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const quoted = (title: string): string => `“${title.slice(0, 80).toWellFormed()}”`;
