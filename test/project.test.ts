// The project itself: it type-checks, it is formatted, the linter is content, what is generated is as it is generated now, nothing is
// exported in vain, no cast goes by way of `unknown`, comments cite what is there, and it names no machine and no registry.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles, typesFolder } from '../core/generate/files.ts';
import { root, sources } from './imports.ts';

function run(...command: string[]): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: root, stdout: 'pipe', stderr: 'pipe' });
  return { code: exitCode, output: stdout.toString() + stderr.toString() };
}

const bun = process.execPath;
const folders = ['core', 'sdk', 'plugins', 'examples', 'test', 'bench', 'build'];

test('types', () => {
  expect(run(bun, 'check')).toMatchObject({ code: 0 });
}, 60_000);

test('format', () => {
  expect(run(bun, 'fmt', '--no-script', '--check', ...folders)).toMatchObject({ code: 0 });
});

test('lint', () => {
  expect(run(join(root, 'node_modules/.bin/oxlint'), '--deny-warnings', ...folders)).toMatchObject({
    code: 0,
  });
}, 60_000);

test('generated files are as the contracts have them now', async () => {
  const files = await generatedFiles();
  const left = readdirSync(join(root, typesFolder)).map((name) => `${typesFolder}/${name}`);
  const stale = [...new Set([...files.keys(), ...left])].filter((path) => {
    const file = join(root, path);
    return files.get(path) !== (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  });
  expect(stale, 'run: bun run generate').toEqual([]);
}, 60_000);

test('every file is used, and every export by another file', () => {
  const result = run(bun, join(root, 'node_modules/.bin/knip'), '--no-progress');
  expect(result.output).toBe('');
  expect(result.code).toBe(0);
}, 60_000);

/** Casts that tell the compiler to look away, each with its reason. One that is gone is taken off this list. */
const knownCasts: Readonly<Record<string, string>> = {
  'core/plugins/backtests/backtests.ts': 'A page of rows has the type of any row.',
  'core/plugins/one-time-jobs/routes.ts': 'A page of rows has the type of any row.',
  'core/plugins/runs/runs.ts': 'A page of rows has the type of any row.',
  'core/resource/directory.ts': 'Its sections are put together by the names that contracts give them.',
  'core/store/compile.ts': 'libsql types its statements more loosely than they are.',
};

test('no cast by way of unknown or any but the known ones', () => {
  const casting = sources('core', 'sdk', 'plugins')
    .filter(
      ({ file, text }) =>
        !file.endsWith('.test.ts') && /^(?!\s*(\/\/|\*|\/\*)).*\bas (unknown as|any)\b/m.test(text),
    )
    .map(({ file }) => file);
  expect(casting.sort()).toEqual(Object.keys(knownCasts));
});

const documents = (readdirSync(join(root, 'docs'), { recursive: true }) as string[]).map(
  (path) => `docs/${path}`,
);
const headingsOf = (document: string): string[] =>
  documents.includes(document)
    ? [...readFileSync(join(root, document), 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!)
    : [];
/** `docs/spec/webhooks.md`, the sign of a section, `Signature`. */
const section = /([^\s(]+) \u203a (?=(.{0,60}))/g;
/** A document alone; a decision is named by its number. */
const mention = /(?<![\w/])docs\/[\w/-]+(\.md)?/g;

test('what comments cite is in docs, with its heading', () => {
  const wrong = sources(...folders).flatMap(({ file, text }) => {
    // A citation may go over the end of a line.
    const running = text.replaceAll(/\n\s*(\/\/|\*)?\s?/g, ' ');
    const sections = [...running.matchAll(section)].filter(
      ([, document, rest]) => !headingsOf(document!).some((heading) => rest!.startsWith(heading)),
    );
    const mentions = [...running.matchAll(mention)].filter(
      ([cited]) => !documents.some((document) => document.startsWith(cited)),
    );
    return [...sections, ...mentions].map(([cited, , rest = '']) => `${file}: ${cited}${rest}`);
  });
  expect(wrong).toEqual([]);
});

test('what docs/architecture.md and CONTRIBUTING.md call a file is one', () => {
  const files = sources(...folders).map(({ file }) => file);
  const generated = /milestones/;
  const strange = ['docs/architecture.md', 'CONTRIBUTING.md'].flatMap((page) =>
    [...readFileSync(join(root, page), 'utf8').matchAll(/`(?:\.\.\/)*([\w./-]+\.ts)`/g)]
      .map(([, reference]) => reference!)
      .filter(
        (reference) =>
          !generated.test(reference) &&
          !files.some((file) => file === reference || file.endsWith(`/${reference}`)),
      )
      .map((reference) => `${page}: ${reference}`),
  );
  expect(strange).toEqual([]);
});

const hasHistory = Bun.which('git') !== null && existsSync(join(root, '.git'));

test.skipIf(!hasHistory)('no machine path, registry host or left-over in what git tracks (needs git)', () => {
  const result = run(
    'git',
    'grep',
    '-nIE',
    `/wor[k]/(main|shared|\\.)|/bash_job[s]|registry\\.npmj[s]|\\b(test|it|describe)\\.onl[y]\\(|TOD[O]|FIXM[E]`,
    '--',
    '.',
    ':!bun.lock',
  );
  expect(result.output).toBe('');
});
