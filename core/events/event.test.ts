import { expect, test } from 'bun:test';
import { eventTypes, expandPattern, namespaceOf, namespaceScopes } from './catalogue.ts';
import { completeNumber, hidePending, renderEvent, type EventRow } from './event.ts';
import { allScopes } from '../rights/scopes.ts';

const pending: Readonly<Record<string, unknown>> = {
  id: 'iss_1',
  identifier: 'ENG-',
  number: null,
  title: 'ENG-',
  url: 'https://t.example/issues/ENG-',
};

test('the number completes identifier and url where they wait for it, and nothing else', () => {
  expect(completeNumber(pending, 7)).toEqual({
    ...pending,
    identifier: 'ENG-7',
    number: 7,
    url: 'https://t.example/issues/ENG-7',
  });
  const committed = { ...pending, identifier: 'ENG-3', number: 3, url: 'https://t.example/issues/ENG-3' };
  expect(completeNumber(committed, 7)).toEqual(committed);
  expect(completeNumber({ body: 'x', issue: { id: 'iss_1', identifier: 'ENG-' } }, 7)).toEqual({
    body: 'x',
    issue: { id: 'iss_1', identifier: 'ENG-7' },
  });
  expect(pending.identifier).toBe('ENG-');
});

test('what is not committed shows no identifier, however deep it lies', () => {
  expect(hidePending({ data: [pending, { issue: pending }, 'x', null] })).toEqual({
    data: [
      { ...pending, identifier: null, url: null },
      { issue: { ...pending, identifier: null, url: null } },
      'x',
      null,
    ],
  });
  expect(hidePending({ identifier: 'ENG-4', url: 'u' })).toEqual({ identifier: 'ENG-4', url: 'u' });
  expect(hidePending(undefined)).toBeUndefined();
});

test('an event renders the envelope of docs/spec, without what is ours alone', () => {
  const row: EventRow = {
    id: 'evt_1',
    type: 'issue.created',
    workspaceId: 'ws',
    sequence: 5,
    createdAt: Date.parse('2026-11-20T12:00:00Z'),
    entityKind: 'issue',
    entityId: 'iss_1',
    issueId: 'iss_1',
    actor: { kind: 'user', id: 'usr_1', name: 'Ana' },
    cause: { rootEventId: 'evt_1', parentRunId: null, depth: 0, path: [] },
    requestId: 'req_1',
    traceparent: 'trace',
    data: pending,
    number: 7,
  };
  expect(renderEvent(row)).toEqual({
    id: 'evt_1',
    type: 'issue.created',
    created_at: '2026-11-20T12:00:00.000Z',
    workspace_id: 'ws',
    sequence: 5,
    actor: row.actor,
    cause: row.cause,
    data: completeNumber(pending, 7),
  });
  const [url, shown] = ['https://h.example/?token=s3cret', 'https://h.example/?token=…'];
  const earlier = { ...row, type: 'webhook.updated' as const, number: null };
  expect(renderEvent({ ...earlier, data: { url, previous: { url } } }).data).toEqual({
    url: shown,
    previous: { url: shown },
  });
});

test('every event type has a namespace with a read scope that exists, and patterns cover what they say', () => {
  for (const type of eventTypes) {
    expect([type, allScopes.includes(namespaceScopes[namespaceOf(type)]!)]).toEqual([type, true]);
    expect(expandPattern(type)).toEqual([type]);
  }
  expect(new Set(eventTypes).size).toBe(eventTypes.length);
  expect(expandPattern('*')).toEqual(eventTypes);
  expect(expandPattern('comment.*')).toEqual([
    'comment.added',
    'comment.updated',
    'comment.deleted',
    'comment.resolved',
    'comment.unresolved',
  ]);
  for (const pattern of ['', '.', '.*', 'issue', 'issue.', 'iss.*', 'issue.exploded', '**', '__proto__'])
    expect([pattern, expandPattern(pattern)]).toEqual([pattern, []]);
});
