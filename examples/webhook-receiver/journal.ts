// What was received, one event a line, on disk before the sender hears of it. An event that is in here was taken in, once;
// whatever must happen for it is driven from here and not from the request.
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
  /** Up to which sequence the feed was read; 0 when it never was. */
  readonly readUpTo: number;
  /** False when the event is in here already: retried, replayed, or read from the feed meanwhile. @throws when the disk does not take it */
  add(event: WebhookEvent): boolean;
  markReadUpTo(sequence: number): void;
  close(): void;
}

export function openJournal(file: string): Journal {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  // The process may have been killed in the middle of a line, which was then acknowledged to nobody.
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
