// Types for receivers (checked by `bun check`).
import { expect, test } from 'bun:test';
import type { WebhookEvent } from './index.ts';

const base = {
  id: 'evt_1',
  created_at: '2026-11-20T12:00:00.000Z',
  workspace_id: '019b0000-0000-7000-8000-000000000001',
  sequence: 1,
  actor: { kind: 'user', id: 'usr_1', name: 'Ana' },
  cause: { rootEventId: null, parentRunId: null, depth: 0, path: [] },
} as const;

/** A typical receiver: a switch on the type, with a default for events of newer servers. */
function describeEvent(event: WebhookEvent): string {
  switch (event.type) {
    case 'issue.created':
      // A payload that was too large contains only the ids and the URL of the full event.
      if (event.data.truncated) return `see ${event.data.event}`;
      return event.data.labels.map(({ name }) => name).join();
    case 'issue.updated':
      return `${event.data.previous?.title} became ${event.data.title}`;
    case 'comment.added':
      // @ts-expect-error a comment has no title
      void event.data.title;
      return event.data.body ?? 'a long comment';
    case 'inbox.item_created':
      return event.data.kind ?? '';
    default:
      return `not ours: ${event.type}`;
  }
}

const read = (event: object): WebhookEvent => JSON.parse(JSON.stringify(event));

test('an event is identified by its type, also when truncated, and unknown types reach the default', () => {
  const data = {
    id: 'iss_1',
    title: 'New',
    labels: [{ id: 'lbl_1', name: 'bug' }],
    previous: { title: 'Old' },
  };
  expect(describeEvent(read({ ...base, type: 'issue.created', data }))).toBe('bug');
  const cut = { id: 'iss_1', truncated: true, event: 'https://tatami.example/api/v1/events/evt_1' };
  expect(describeEvent(read({ ...base, type: 'issue.created', data: cut }))).toBe(`see ${cut.event}`);
  expect(describeEvent(read({ ...base, type: 'issue.updated', data }))).toBe('Old became New');
  expect(describeEvent(read({ ...base, type: 'comment.added', data: { id: 'cmt_1', body: 'Yes.' } }))).toBe(
    'Yes.',
  );
  expect(describeEvent(read({ ...base, type: 'sla.breached', data: {} }))).toBe('not ours: sla.breached');
  // @ts-expect-error the event type does not exist in this version
  expect(describeEvent({ ...base, type: 'sla.breached', data: {} })).toBe('not ours: sla.breached');
});
