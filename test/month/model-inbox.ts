// The inbox of the model: one unread item with a count for each issue and reason.
interface Item {
  readonly issue: string | null;
  readonly reason: string;
  count: number;
  isRead: boolean;
}

/** Recipients by reason. If several reasons apply, the first one counts. */
type RecipientsByReason = readonly (readonly [reason: string, readers: readonly string[]])[];

export class Inboxes {
  /** Items in order of creation. */
  readonly items = new Map<string, Item[]>();
  readonly admins = new Set<string>();
  private readonly gone = new Set<string>();

  leave(member: string): void {
    this.gone.add(member);
  }

  isGone(member: string): boolean {
    return this.gone.has(member);
  }

  notify(issue: string | null, by: string, recipients: RecipientsByReason): void {
    const notified = new Set([by, ...this.gone]);
    for (const [reason, readers] of recipients)
      for (const reader of readers) {
        if (notified.has(reader)) continue;
        notified.add(reader);
        const items = this.items.get(reader) ?? [];
        this.items.set(reader, items);
        const like = items.find((item) => item.issue === issue && item.reason === reason && !item.isRead);
        if (like && issue !== null) like.count++;
        else items.push({ issue, reason, count: 1, isRead: false });
      }
  }

  readAll(member: string): void {
    for (const item of this.items.get(member) ?? []) item.isRead = true;
  }

  unread(member: string): number {
    return (this.items.get(member) ?? []).filter(({ isRead }) => !isRead).length;
  }

  /** Returns `reason issue count` for each item, for a comparison without order. */
  of(member: string): string[] {
    return (this.items.get(member) ?? []).map(({ issue, reason, count, isRead }) =>
      [reason, issue ?? '-', count, isRead ? 'read' : 'unread'].join(' '),
    );
  }
}
