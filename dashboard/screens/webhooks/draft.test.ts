import { expect, test } from 'bun:test';
import { bodyOf, emptyWebhook, patchOf } from './draft.ts';

const draft = { ...emptyWebhook, url: 'https://hooks.acme.example/?token=…' };

test('a masked URL is not sent back, and a changed one is', () => {
  expect(patchOf(draft, { url: draft.url })).not.toHaveProperty('url');
  expect(patchOf({ ...draft, url: 'https://new.example/' }, { url: draft.url })).toHaveProperty(
    'url',
    'https://new.example/',
  );
});

test('an empty filter removes the filter, and only a JSON object is one', () => {
  expect(bodyOf(draft).filter).toBeNull();
  expect(bodyOf({ ...draft, filter: '{"priority":"high"}' }).filter).toEqual({ priority: 'high' });
  for (const filter of ['[]', '"high"', 'null', '{'])
    expect(() => bodyOf({ ...draft, filter })).toThrow('The filter must be a JSON object');
});
