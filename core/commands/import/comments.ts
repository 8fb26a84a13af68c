// What was said of an issue elsewhere, as comments of whoever imports: who said it when stands in their first line. They have no id of
// elsewhere; a second run knows them by that line, and by their order where several have the same.
import { readAll } from '../remote.ts';
import { fitBytes } from './fit.ts';
import type { ImportedComment, ImportRow } from './formats/row.ts';
import type { Linking } from './links.ts';
import { attempted } from './refusal.ts';

const commentBytesMax = 64 * 1024;

export async function addComments(
  { call, made, note, left }: Linking,
  { at, comments }: ImportRow,
  issueId: string,
): Promise<void> {
  const path = `/issues/${issueId}/comments`;
  const told = new Set<string>();
  const skip = (why: string): void => {
    if (!told.has(why)) note(`${at}: comments are skipped: ${why}`);
    told.add(why);
    left('comment');
  };
  const read = await attempted(readAll<{ body: string }>(call, path));
  if ('refusal' in read) return comments.forEach(() => skip(read.refusal.message));
  for (const body of missing(comments.map(textOf), read.value)) {
    const answer = await attempted(call('POST', path, { body }));
    if ('refusal' in answer) skip(answer.refusal.message);
    else made.comments++;
  }
}

function missing(texts: readonly string[], there: readonly { readonly body: string }[]): string[] {
  const counts = new Map<string, number>();
  for (const { body } of there) counts.set(firstLine(body), (counts.get(firstLine(body)) ?? 0) + 1);
  return texts.filter((text) => {
    const count = counts.get(firstLine(text)) ?? 0;
    counts.set(firstLine(text), count - 1);
    return count <= 0;
  });
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!;

function textOf({ said, body }: ImportedComment): string {
  const head = said.replace(/[\s*_`[\]\\]+/g, ' ').trim();
  const text = withoutMentions(body);
  return fitBytes(head === '' ? text : `*${head}:*\n\n${text}`, commentBytesMax);
}

/** As code, so that nobody is told of what was said to them years ago. Lines with code are left as they are. */
function withoutMentions(text: string): string {
  let isFenced = false;
  return text
    .split('\n')
    .map((line) => {
      const isFence = /^\s*(```|~~~)/.test(line);
      isFenced = isFenced !== isFence;
      if (isFence || isFenced || line.includes('`')) return line;
      return line.replace(/(?<![\p{L}\p{N}_.@/-])@[\p{L}\p{N}_][\p{L}\p{N}_-]*/gu, '`$&`');
    })
    .join('\n');
}
