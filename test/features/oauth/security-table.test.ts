// Checks that docs/security-table.md covers every requirement and that each named test and file exists.
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dir, '../../..');
const document = readFileSync(join(root, 'docs/security-table.md'), 'utf8');

interface Line {
  readonly id: string;
  readonly state: string;
  readonly holds: string;
  readonly tests: string;
}

const lines: readonly Line[] = document
  .split('\n')
  .filter((line) => /^\| (§?\d)/.test(line))
  .map((line) => {
    const [id = '', state = '', holds = '', tests = '', ...rest] = line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    expect([line, rest]).toEqual([line, []]);
    return { id, state, holds, tests };
  });

/** RFC 9700: the sections that recommend something, and those that describe an attack. */
const sections = [
  ...['2.1', '2.1.1', '2.1.2', '2.2.1', '2.2.2', '2.3', '2.4', '2.5', '2.6'],
  ...Array.from({ length: 17 }, (_, at) => `4.${at + 1}`),
].map((section) => `§${section}`);

/** ASVS 5.0: number of requirements of each section. */
const requirements: Readonly<Record<string, number>> = {
  ...{ '6.1': 3, '6.2': 12, '6.3': 8, '6.4': 6, '6.5': 8, '6.6': 4, '6.7': 2, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 3, '7.6': 2 },
  ...{ '9.1': 3, '9.2': 4 },
  ...{ '10.1': 2, '10.2': 3, '10.3': 5, '10.4': 16, '10.5': 5, '10.6': 2, '10.7': 3 },
};

const numberOf = ({ id }: Line): string => id.split(' ')[0]!;

test('every section and requirement has a line, and each requirement exactly one', () => {
  const numbers = lines.map(numberOf);
  for (const section of sections) expect(numbers).toContain(section);
  const expected = Object.entries(requirements).flatMap(([section, count]) =>
    Array.from({ length: count }, (_, at) => `${section}.${at + 1}`),
  );
  expect(numbers.filter((number) => !number.startsWith('§'))).toEqual(expected);
});

/** Requirements of each status. */
const obligations: Readonly<Record<string, (line: Line) => boolean>> = {
  met: ({ tests }) => referencesIn(tests).length > 0,
  documented: ({ holds, tests }) => tests === '' && linksIn(holds).length > 0,
  'by inspection': ({ holds, tests }) => tests === '' && /`core\/[\w./-]+\.ts`/.test(holds),
  partial: ({ holds, tests }) => holds !== '' && referencesIn(tests).length > 0,
  'not met': ({ holds, tests }) => holds !== '' && tests === '',
  'not applicable': ({ holds, tests }) => holds !== '' && tests === '',
};

test('each line has a status that the document explains, and meets its requirements', () => {
  const wrong = lines.filter((line) => obligations[line.state]?.(line) !== true);
  expect(wrong.map(({ id, state }) => `${id}: ${state}`)).toEqual([]);
  for (const state of Object.keys(obligations)) expect(document).toContain(`\n| ${state} |`);
});

/** Parses `file`: “name”, “another name”; `another file`: “name”. */
function referencesIn(tests: string): readonly { file: string; name: string }[] {
  let file = '';
  const references: { file: string; name: string }[] = [];
  for (const [, path, name] of tests.matchAll(/`([\w./-]+)`|“([^”]+)”/g))
    if (path !== undefined) file = path;
    else references.push({ file, name: name! });
  return references;
}

function linksIn(text: string): readonly string[] {
  return [...text.matchAll(/\]\(([^)#]+)/g)].map(([, path]) => path!);
}

const sources = new Map<string, string>();
/** Returns the source without comments. Interpolations of titles become `…`, as in the table. */
function sourceOf(file: string): string {
  const path = join(root, file);
  if (!file.endsWith('.test.ts') || !existsSync(path)) return '';
  const known = sources.get(file);
  if (known !== undefined) return known;
  const source = readFileSync(path, 'utf8')
    .replaceAll(/^\s*(\/\/|\*|\/\*).*$/gm, '')
    .replaceAll(/\$\{[^}]*\}/g, '…');
  sources.set(file, source);
  return source;
}

test('each named test exists as a title or as a row of a table of titles', () => {
  const missing = lines
    .flatMap(({ tests }) => referencesIn(tests))
    .filter(
      ({ file, name }) => !["'", '"', '`'].some((quote) => sourceOf(file).includes(quote + name + quote)),
    );
  expect(missing).toEqual([]);
});

test('each named file exists', () => {
  const files = [...document.matchAll(/`((?:core|test|docs)\/[\w./-]+)`/g)].map(([, path]) => path!);
  const linked = linksIn(document).map((path) => `docs/${path}`);
  expect(files.length).toBeGreaterThan(100);
  expect([...files, ...linked].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
