import { expect, test } from 'bun:test';
import { eventTypes, expandPattern, namespaceOf, namespaceScopes } from './catalogue.ts';
import { eventJson, renderEvent, type EventRow } from './event.ts';
import {
  appendStatement,
  completeBody,
  completeText,
  hidePending,
  assignAtCommit,
  type CommitAssigned,
  type CommitAssignedRule,
} from './log/append.ts';
import { allScopes } from '../rights/table.ts';

/** Rule for a value of `of` that is truncated until the commit assigns the rest. */
const fake: CommitAssignedRule = {
  append: appendStatement('test.append_with_rest', 'NULL'),
  waits: /"of":"cut-"/,
  complete: (rendered, value) => (rendered.of === 'cut-' ? { ...rendered, of: `cut-${value}` } : rendered),
  hide: (rendered) => (rendered.of === 'cut-' ? { ...rendered, of: null } : rendered),
};
assignAtCommit('thing', fake);
const pending = { id: 'thg_1', of: 'cut-' };

test('an event renders the envelope of docs/spec without internal fields', () => {
  const row: EventRow = {
    id: 'evt_1',
    type: 'label.created',
    workspaceId: 'ws',
    sequence: 5,
    createdAt: Date.parse('2026-11-20T12:00:00Z'),
    entityType: 'thing',
    entityId: 'thg_1',
    subjectId: 'thg_1',
    actor: { kind: 'user', id: 'usr_1', name: 'Ana' },
    cause: { rootEventId: 'evt_1', parentRunId: null, depth: 0, path: [] },
    requestId: 'req_1',
    traceparent: 'trace',
    data: pending,
    commitAssigned: 7,
  };
  expect(renderEvent(row)).toEqual({
    id: 'evt_1',
    type: 'label.created',
    created_at: '2026-11-20T12:00:00.000Z',
    workspace_id: 'ws',
    sequence: 5,
    actor: row.actor,
    cause: row.cause,
    data: { id: 'thg_1', of: 'cut-7' },
  });
  expect(eventJson({ ...row, dataJson: JSON.stringify(pending) })).toBe(JSON.stringify(renderEvent(row)));
  expect(renderEvent({ ...row, commitAssigned: null }).data).toBe(pending);
  expect(() => renderEvent({ ...row, entityType: 'other' })).toThrow('events of other');
});

test('a response is completed with the commit-assigned values of its objects, and shows none of them before', async () => {
  const commitAssigned = new Map<string, CommitAssigned>([['thg_1', { entityType: 'thing', value: 7 }]]);
  const complete = { id: 'thg_1', of: 'cut-7' };
  const other = { id: 'thg_2', of: 'cut-' };
  expect(completeBody(pending, commitAssigned)).toEqual(complete);
  const list = { data: [pending, other, null, 'x'], count: 4 };
  expect(completeBody(list, commitAssigned)).toEqual({ data: [complete, other, null, 'x'], count: 4 });
  for (const body of [undefined, null, 'x', other]) expect(completeBody(body, commitAssigned)).toBe(body);
  const find = (id: string) => Promise.resolve(commitAssigned.get(id) ?? null);
  expect(await completeText(JSON.stringify({ data: [pending, other] }), find)).toBe(
    JSON.stringify({ data: [complete, other] }),
  );
  expect(await completeText('{"id":"thg_1","of":"whole"}', find)).toBe('{"id":"thg_1","of":"whole"}');
  expect(hidePending(list)).toEqual({
    ...list,
    data: [{ ...pending, of: null }, { ...other, of: null }, null, 'x'],
  });
  expect(hidePending(undefined)).toBeUndefined();
});

test('every event type has a namespace with an existing read scope, and every pattern covers its types', () => {
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
    'comment.restored',
    'comment.resolved',
    'comment.unresolved',
  ]);
  for (const pattern of ['', '.', '.*', 'issue', 'issue.', 'iss.*', 'issue.exploded', '**', '__proto__'])
    expect([pattern, expandPattern(pattern)]).toEqual([pattern, []]);
});
