// Journal of received events, one per line, synced to disk before the sender gets a response. The journal
// contains each event once; process events from the journal and not in the request.
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs';
import type { WebhookEvent } from '@tatami/sdk/webhooks';

export interface Journal {
  readonly size: number;
  /** Last sequence read from the feed; 0 if it was never read. */
  readonly readUpTo: number;
  /**
   * Returns false if the event is already stored (retried, replayed, or read from the feed).
   * @throws Error if the disk rejects the write
   */
  add(event: WebhookEvent): boolean;
  markReadUpTo(sequence: number): void;
  close(): void;
}

export function openJournal(file: string): Journal {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // The process may have been killed in the middle of a line, which was then not acknowledged.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole !== text) truncateSync(file, Buffer.byteLength(whole));

  const seen = new Set<string>();
  let readUpTo = 0;
  for (const line of whole.split('\n').filter(Boolean)) {
    const entry = JSON.parse(line) as WebhookEvent | { readUpTo: number };
    if ('readUpTo' in entry) readUpTo = entry.readUpTo;
    else seen.add(entry.id);
  }

  const descriptor = openSync(file, 'a', 0o600);
  const append = (entry: unknown): void => {
    writeSync(descriptor, `${JSON.stringify(entry)}\n`);
    fdatasyncSync(descriptor);
  };
  return {
    get size() {
      return seen.size;
    },
    get readUpTo() {
      return readUpTo;
    },
    add(event) {
      if (seen.has(event.id)) return false;
      append(event);
      seen.add(event.id);
      return true;
    },
    markReadUpTo(sequence) {
      append({ readUpTo: sequence });
      readUpTo = sequence;
    },
    close: () => closeSync(descriptor),
  };
}
