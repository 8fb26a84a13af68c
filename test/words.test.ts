// A floor for the language of the repository: it finds sentences that open without their subject, and words that the field does not use.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { startApp, type Json, type TestApp } from './app.ts';
import { root } from './imports.ts';

/** Openings that hide the subject. */
const opening = /^(What|Of|Whether|Who|Whoever|Those|None of)\b/;
/** Words of earlier texts that have a standard term. */
const outdated =
  /\b(told|tells|kept|sight|veil(ed)?|heard|unheard|payers?|doors?|entrances?|knocks?|spool|taker|ceremony|desk|standing|processor time|tally|convoy|strikes?|held back|whoever|put aside)\b/i;
/** Standard terms that contain one of those words, and names in backticks. */
const standard = /`[^`]*`|standing committee|strikes? through/g;

/** Their commands and comments are replaced by later work; their texts for users are checked as everybody's. */
const commentsLater = /^core\/(app\/cli|features\/export)\/|retention|tombstone|purge/;

interface Found {
  readonly at: string;
  readonly text: string;
}

const paths = [
  ...new Bun.Glob('{core,sdk,plugins,examples,dashboard,test,bench,build}/**/*.{ts,tsx}').scanSync(root),
].filter(
  (path) =>
    !/\/generated\/|\.d\.ts$|^test\/sandbox\/attacks\/|^test\/words\.test\.ts$|sample-issues\.ts$/.test(path),
);
const sources = paths.map((path) =>
  ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest, true),
);

let app: TestApp;
let described: Found[];
beforeAll(async () => {
  app = await startApp();
  described = descriptionsOf((await app.call('GET', '/api/v1/openapi.json')).json, []);
});
afterAll(() => app.stop());

/** Every description, summary and title of the OpenAPI document, without examples. */
function descriptionsOf(value: Json, path: readonly string[]): Found[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === 'example' || key === 'examples') return [];
    const isText = (key === 'description' || key === 'summary') && typeof inner === 'string';
    return isText ? [{ at: path.join('/'), text: inner }] : descriptionsOf(inner, [...path, key]);
  });
}

/** Comments, of which several lines that follow each other count as one. */
function commentsOf(source: ts.SourceFile): Found[] {
  const text = source.text;
  const found: Found[] = [];
  const seen = new Set<number>();
  const note = (ranges: readonly ts.CommentRange[] | undefined): void => {
    let before: ts.CommentRange | undefined;
    for (const range of ranges ?? []) {
      const goesOn =
        before?.kind === ts.SyntaxKind.SingleLineCommentTrivia &&
        /^\n[ \t]*$/.test(text.slice(before.end, range.pos));
      before = range;
      if (goesOn || seen.has(range.pos)) continue;
      seen.add(range.pos);
      found.push({ at: placeOf(source, range.pos), text: wordsOf(text.slice(range.pos, range.end)) });
    }
  };
  const visit = (node: ts.Node): void => {
    note(ts.getLeadingCommentRanges(text, node.getFullStart()));
    note(ts.getTrailingCommentRanges(text, node.getEnd()));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const wordsOf = (comment: string): string => comment.replace(/^\/[/*]+\s*|\s*\*\/$/g, '').replace(/^\* /, '');

const placeOf = (source: ts.SourceFile, position: number): string =>
  `${source.fileName}:${source.getLineAndCharacterOfPosition(position).line + 1}`;

/** Texts of three words and more that stand in code, each with what it is an argument of. */
function textsOf(source: ts.SourceFile): (Found & { readonly in: string })[] {
  const found: (Found & { in: string })[] = [];
  const visit = (node: ts.Node): void => {
    const text =
      ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) ? node.text : templateOf(node);
    if (text !== null && text.trim().split(/\s+/).length > 3)
      found.push({ at: placeOf(source, node.getStart()), text, in: callOf(node.parent) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const templateOf = (node: ts.Node): string | null =>
  ts.isTemplateExpression(node)
    ? node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
    : null;

const callOf = (node: ts.Node): string =>
  ts.isNewExpression(node) || ts.isCallExpression(node) ? node.expression.getText().split('.').at(-1)! : '';

const shipped = (source: ts.SourceFile): boolean =>
  /^(core|sdk|plugins)\/(?!.*\.test\.ts$)/.test(source.fileName);
const isSentence = ({ text }: Found): boolean => /^[A-Z](?![A-Z]+ )/.test(text);
/** Guest code imitates the messages of V8, which have no full stop. */
const errors = /^(?!Native).*Error$|^(invalid|conflict|refused|fail|fault)$/;
/** Parts of the command line's help: `.description(…)`, `.option(flags, …)`, `.argument(name, …)`. */
const help = /^(description|option|requiredOption|argument|addHelpText)$/;

const lines = (found: readonly Found[]): string[] =>
  found.map(({ at, text }) => `${at}  ${text.slice(0, 90)}`);

test('no comment opens without its subject', () => {
  const comments = sources.filter(({ fileName }) => !commentsLater.test(fileName)).flatMap(commentsOf);
  expect(comments.length).toBeGreaterThan(1_000);
  expect(lines(comments.filter(({ text }) => opening.test(text)))).toEqual([]);
});

test('no description or summary of the API opens without its subject or uses an outdated word', () => {
  expect(described.length).toBeGreaterThan(1_000);
  expect(lines(described.filter(({ text }) => opening.test(text) || isOutdated(text)))).toEqual([]);
});

test('no description repeats the name of its field', () => {
  const repeated = described.filter(({ at, text }) => {
    const name = at.split('/').at(-1)!;
    return text.replace(/[^a-z]/gi, '').toLowerCase() === name.replace(/[^a-z]/gi, '').toLowerCase();
  });
  expect(lines(repeated)).toEqual([]);
});

test('no error, help or log text opens without its subject or uses an outdated word', () => {
  const texts = sources.filter(shipped).flatMap(textsOf);
  const shown = texts.filter((text) => isSentence(text) || help.test(text.in));
  expect(shown.length).toBeGreaterThan(1_000);
  expect(lines(shown.filter(({ text }) => opening.test(text) || isOutdated(text)))).toEqual([]);
});

test('an error of more than three words ends with a full stop', () => {
  const texts = sources.filter(shipped).flatMap(textsOf);
  const messages = texts.filter((text) => errors.test(text.in) && isSentence(text));
  expect(messages.length).toBeGreaterThan(200);
  expect(lines(messages.filter(({ text }) => !/[.?!…]["')]?$|\n$/.test(text)))).toEqual([]);
});

const isOutdated = (text: string): boolean => outdated.test(text.replace(standard, ''));
