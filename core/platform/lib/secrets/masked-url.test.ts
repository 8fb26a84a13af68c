import { expect, test } from 'bun:test';
import { isMasked, maskedUrl } from './masked-url.ts';

test('query values are masked, names and the rest stay visible, and masking twice changes nothing', () => {
  for (const [url, masked] of [
    ['https://h.example/x', 'https://h.example/x'],
    ['https://h.example/x?token=s3cret', 'https://h.example/x?token=…'],
    ['https://h.example/x?a=1&b=&s3cret', 'https://h.example/x?a=…&b=…&…'],
    ['https://h.example?a=b=c?d#part', 'https://h.example?a=…#part'],
    ['https://h.example/#x?a=b', 'https://h.example/#x?a=b'],
  ] as const) {
    expect(maskedUrl(url)).toBe(masked);
    expect(maskedUrl(masked)).toBe(masked);
    expect([isMasked(url), isMasked(masked), isMasked(encodeURI(masked).toLowerCase())]).toEqual([
      false,
      masked !== url,
      masked !== url,
    ]);
  }
});
