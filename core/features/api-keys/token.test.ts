import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { tokenHash } from '../../platform/lib/secrets/tokens.ts';
import { mintToken, prefixOf } from './token.ts';

test('a new key contains its prefix, and its checksum detects any changed letter', () => {
  const { text, prefix, hash } = mintToken();
  expect(prefixOf(text)).toBe(prefix);
  expect(hash).toBe(createHash('sha256').update(text).digest('hex'));
  expect(hash).toBe(tokenHash(text));
  for (let at = 4; at < text.length; at++)
    for (const letter of 'aZ09_-') {
      if (text[at] === letter) continue;
      expect(prefixOf(text.slice(0, at) + letter + text.slice(at + 1))).toBeNull();
    }
  for (const wrong of ['', 'ttm_', text.slice(1), `${text}a`, ` ${text}`, `${text}\n`, text.toUpperCase()])
    expect([wrong, prefixOf(wrong)]).toEqual([wrong, null]);
});

test('keys are unique, and their letters are evenly distributed', () => {
  const texts = Array.from({ length: 4000 }, () => mintToken().text);
  expect(new Set(texts).size).toBe(texts.length);
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const letter of text.slice(15, 47)) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  const expected = (4000 * 32) / 62;
  expect(counts.size).toBe(62);
  // Allows seven standard deviations. A modulo bias (256 mod 62 = 8) would make eight characters 21 % more
  // frequent.
  for (const count of counts.values())
    expect(Math.abs(count - expected)).toBeLessThan(7 * Math.sqrt(expected));
});
