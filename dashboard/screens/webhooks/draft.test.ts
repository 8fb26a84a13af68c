import { expect, test } from 'bun:test';
import { addressPatchOf, bodyOf, emptyWebhook, eventsPatchOf, withoutSecrets } from './draft.ts';

const draft = { ...emptyWebhook, url: 'https://hooks.acme.example/?token=…' };

test('a masked URL is not sent back, and a changed one is', () => {
  expect(addressPatchOf(draft, { url: draft.url })).not.toHaveProperty('url');
  expect(addressPatchOf({ ...draft, url: 'https://new.example/' }, { url: draft.url })).toHaveProperty(
    'url',
    'https://new.example/',
  );
});

test('settings and events are changed separately', () => {
  const changed = { ...draft, url: 'https://new.example/', events: ['label.*'] };
  expect(addressPatchOf(changed, draft)).toEqual({ description: '', url: 'https://new.example/' });
  expect(eventsPatchOf(changed)).toEqual({ events: ['label.*'], filter: null, ordering: 'none' });
});

test('an empty filter removes the filter, and only a JSON object is one', () => {
  expect(bodyOf(draft).filter).toBeNull();
  expect(bodyOf({ ...draft, filter: '{"priority":"high"}' }).filter).toEqual({ priority: 'high' });
  expect(bodyOf({ ...draft, filter: '{}' }).filter).toBeNull();
  for (const filter of ['[]', '"high"', 'null', '{'])
    expect(() => bodyOf({ ...draft, filter })).toThrow('The filter must be a JSON object');
});

test('a draft is stored without a URL that may contain a secret', () => {
  const urlOf = (url: string, shown?: string): string => withoutSecrets({ ...draft, url }, shown).url;
  expect(urlOf('https://hooks.acme.example/a')).toBe('https://hooks.acme.example/a');
  expect(urlOf('https://hooks.acme.example/a?token=1')).toBe('');
  expect(urlOf('https://user:1@hooks.acme.example/a')).toBe('');
  expect(urlOf(draft.url, draft.url)).toBe(draft.url);
  expect(urlOf(`${draft.url}&key=1`, draft.url)).toBe('');
});
