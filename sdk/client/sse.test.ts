/** The parser returns the same messages however the network splits a stream. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createSseParser, type SseMessage } from './sse.ts';

const read = (pieces: readonly string[]): SseMessage[] => {
  const parser = createSseParser();
  return pieces.flatMap((piece) => parser.push(piece));
};

test('the parser reads fields, comments, multi-line data, ids without data, and an unfinished message', () => {
  const text = [
    ': alive\n\n',
    'id: 7\n\n',
    'id: 8\nevent: issue.created\ndata: {"a":\ndata: 1}\n\n',
    'event:issue.updated\r\ndata:no space\r\n\r\n',
    'retry: 100\ndata\n\n',
    'id: 9\ndata: cut',
  ].join('');
  expect(read([text])).toEqual([
    { id: '7', event: '', data: null },
    { id: '8', event: 'issue.created', data: '{"a":\n1}' },
    { id: null, event: 'issue.updated', data: 'no space' },
    { id: null, event: '', data: '' },
  ]);
});

test('the chunk boundaries do not matter', () => {
  const message = fc.record({
    id: fc.option(fc.nat().map(String)),
    event: fc.constantFrom('issue.created', 'webhook.ping'),
    data: fc.string({ unit: 'grapheme' }).map((value) => JSON.stringify(value)),
  });
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.nat(200)), (messages, cuts) => {
      let text = messages
        .map(({ id, event, data }) => `${id === null ? '' : `id: ${id}\n`}event: ${event}\ndata: ${data}\n\n`)
        .join(':\n\n');
      const pieces: string[] = [];
      for (const cut of cuts) {
        pieces.push(text.slice(0, cut));
        text = text.slice(cut);
      }
      expect(read([...pieces, text])).toEqual(messages);
    }),
    { seed: 20_264, numRuns: 300 },
  );
});
