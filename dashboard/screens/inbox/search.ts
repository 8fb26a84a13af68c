// Search parameters of the inbox.
export const tabs = ['unread', 'all', 'snoozed', 'archived'] as const;
export type Tab = (typeof tabs)[number];

export interface InboxSearch {
  /** Default `unread`. */
  readonly tab?: Tab;
  /** Id of the item shown. */
  readonly item?: string;
}

export function inboxSearch({ tab, item }: Readonly<Record<string, unknown>>): InboxSearch {
  const known = tabs.find((one) => one === tab);
  return { ...(known && { tab: known }), ...(typeof item === 'string' && { item }) };
}
