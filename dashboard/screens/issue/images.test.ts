import { expect, test } from 'bun:test';
import { attachmentIn, markdownOf } from './images.tsx';

const origins = ['http://localhost:4700', 'https://tatami.example'];
const id = `att_${'0'.repeat(26)}`;
const path = `/api/v1/attachments/${id}/content`;

test('an attachment is recognized by its path, and by its URL at this server', () => {
  for (const src of [path, `${path}?x=1`, `http://localhost:4700${path}`, `https://tatami.example${path}`])
    expect([src, attachmentIn(src, origins)]).toEqual([src, id]);
});

test('no address of another server or path is taken for an attachment', () => {
  const others = [
    `https://other.example${path}`,
    `//other.example${path}`,
    `https://tatami.example@other.example${path}`,
    `http://tatami.example${path}`,
    `${path}/x`,
    `/x${path}`,
    `/api/v1/attachments/../content`,
    `/api/v1/attachments/${id}`,
    `javascript:${path}`,
    `data:image/png,${path}`,
    'https://',
    '',
  ];
  for (const src of others) expect([src, attachmentIn(src, origins)]).toEqual([src, null]);
});

test('the copied Markdown is one image, whatever the title', () => {
  expect(markdownOf({ id, title: 'a](b) [\\c' })).toBe(`![a\\](b) \\[\\\\c](${path})`);
});
