// The second reading of a file, after all of its issues exist: parents, relations and comments. Existing ones stay, so that a second run
// adds nothing; links to a missing issue, or that would close a cycle, are reported and omitted.
import type { ApiCallError } from '../../../../sdk/client/index.ts';
import { findIssues, type ExistingIssue, attempted } from './requests.ts';
import type { ImportRow, ImportedLink, ImportedComment } from './formats/row.ts';
import type { ImportContext } from './report.ts';
import { readAll } from '../lib/pages.ts';
import { fitBytes } from './fit.ts';

const commentBytesMax = 64 * 1024;

/**
 * Adds comments of the importing member. Their first line names the author and time. Comments have no external id, so a repeated import
 * recognizes them by that line, and by their order if several have the same line.
 */
async function addComments(
  { call, report, note, left }: ImportContext,
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
    else report.comments++;
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

/** Quotes mentions as code, so that old comments notify nobody. Lines with code are unchanged. */
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

/** @param rows with links or comments, as many as one filter holds */
export async function linkRows(context: ImportContext, rows: readonly ImportRow[]): Promise<void> {
  const { call, source, names } = context;
  const externalIdOf = (to: string): string => names.get(to) ?? to;
  const wanted = rows.flatMap(({ externalId, links }) => [
    externalId,
    ...links.map(({ to }) => externalIdOf(to)),
  ]);
  const found = await findIssues(call, source, [...new Set(wanted)]);
  const here = (externalId: string): ExistingIssue | undefined => {
    const issue = found.get(externalId);
    return issue?.deletedAt === null ? issue : undefined;
  };
  for (const row of rows) {
    const issue = here(row.externalId);
    // The issue was rejected, which is already reported, or deleted on purpose.
    if (!issue) continue;
    for (const link of row.links) await add(context, row, issue, link, here(externalIdOf(link.to)));
    if (row.comments.length > 0) await addComments(context, row, issue.id);
  }
}

const words: Readonly<Record<ImportedLink['type'], string>> = {
  child_of: 'parent',
  parent_of: 'sub-issue',
  blocks: 'relation',
  blocked_by: 'relation',
  duplicate_of: 'relation',
  duplicated_by: 'relation',
  relates_to: 'relation',
};

async function add(
  context: ImportContext,
  { at }: ImportRow,
  issue: ExistingIssue,
  { type, to }: ImportedLink,
  other: ExistingIssue | undefined,
): Promise<void> {
  const { note, left } = context;
  const word = words[type];
  const skip = (reason: string, why: string): void => {
    note(`${at}: ${type.replace('_', ' ')} ${to} is skipped: ${why}`);
    left(`${word} ${reason}`);
  };
  if (!other)
    return skip(
      'without its issue',
      'that issue is neither in this file nor in an earlier import; import it first',
    );
  const refusal = await (word === 'relation'
    ? relate(context, issue, type, other)
    : adopt(context, ...(type === 'child_of' ? ([issue, other] as const) : ([other, issue] as const))));
  if (refusal === hasAnother)
    return skip(
      'of an issue that has another parent',
      'the issue already has another parent, which an import does not replace',
    );
  if (refusal) skip(reasonOf(refusal), refusal.message);
}

function reasonOf({ details }: ApiCallError): string {
  return details.some(({ issue }) => issue === 'conflict')
    ? 'in conflict with another one'
    : 'refused by the server';
}

const hasAnother = Symbol('has another parent');

/** Sets the parent of an issue that has none; an existing parent is not replaced. */
async function adopt(
  { call, report }: ImportContext,
  issue: ExistingIssue,
  parent: ExistingIssue,
): Promise<ApiCallError | typeof hasAnother | null> {
  if (issue.parent) return issue.parent.id === parent.id ? null : hasAnother;
  const answer = await attempted(
    call<ExistingIssue>('PATCH', `/issues/${issue.id}`, { parentId: parent.id }),
  );
  if ('refusal' in answer) return answer.refusal;
  report.parents++;
  Object.assign(issue, { parent: { id: parent.id } });
  return null;
}

async function relate(
  { call, report }: ImportContext,
  issue: ExistingIssue,
  type: ImportedLink['type'],
  other: ExistingIssue,
): Promise<ApiCallError | null> {
  const answer = await attempted(call('POST', `/issues/${issue.id}/relations`, { type, issueId: other.id }));
  if (!('refusal' in answer)) {
    report.relations++;
    return null;
  }
  const { refusal } = answer;
  return refusal.details.some(({ issue: what }) => what === 'already_exists') ? null : refusal;
}
