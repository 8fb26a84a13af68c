import { expect, test } from 'bun:test';
import { typeName } from '../../text/developers.ts';
import { issueChunks } from './targets.ts';

const entry = (kind: string, id: string) => ({ target: { kind, id } });

test('each issue is asked for once, and no other object', () => {
  const entries = [
    entry('issue', 'iss_1'),
    entry('label', 'lbl_1'),
    entry('issue', 'iss_1'),
    entry('issue', 'iss_2'),
  ];
  expect(issueChunks(entries)).toEqual([['iss_1', 'iss_2']]);
});

test('further entries leave full chunks as they are', () => {
  const entries = Array.from({ length: 120 }, (_, at) => entry('issue', `iss_${at}`));
  const [first] = issueChunks(entries.slice(0, 60));
  expect(issueChunks(entries).map(({ length }) => length)).toEqual([50, 50, 20]);
  expect(issueChunks(entries)[0]).toEqual(first!);
});

test('types of objects are words', () => {
  expect(typeName('api_key')).toBe('API key');
  expect(typeName('oauth_app')).toBe('OAuth app');
  expect(typeName('workflow_state')).toBe('Workflow state');
});
