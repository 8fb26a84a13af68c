// Checks the project itself: types, format, lint, generated files, unused exports, casts, citations in
// comments, and names of machines and registries.
import { expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles, typesFolder } from '../build/generate/files.ts';
import { root, sources } from './imports.ts';

/** The type-aware part of the linter is a Go program: without collections below 3 GiB it takes a quarter less CPU time; at a lower limit, which it reaches, twice as much. */
const rarelyCollecting = { GOGC: 'off', GOMEMLIMIT: '3GiB' };

function run(...command: string[]): { code: number; output: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, {
    cwd: root,
    env: { ...process.env, ...rarelyCollecting },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  return { code: exitCode, output: stdout.toString() + stderr.toString() };
}

const bun = process.execPath;
const folders = ['core', 'sdk', 'plugins', 'examples', 'dashboard', 'test', 'bench', 'build'];

test('the types check', () => {
  expect(run(bun, 'check')).toMatchObject({ code: 0 });
  expect(run(bun, 'check', '-p', 'dashboard')).toMatchObject({ code: 0 });
}, 120_000);

test('the format is applied', () => {
  expect(run(bun, 'fmt', '--no-script', '--check', ...folders)).toMatchObject({ code: 0 });
});

test('the linter reports nothing', () => {
  expect(run(join(root, 'node_modules/.bin/oxlint'), '--deny-warnings', ...folders)).toMatchObject({
    code: 0,
  });
}, 120_000);

test('generated files match the contracts', async () => {
  const files = await generatedFiles();
  const left = readdirSync(join(root, typesFolder)).map((name) => `${typesFolder}/${name}`);
  const stale = [...new Set([...files.keys(), ...left])].filter((path) => {
    const file = join(root, path);
    return files.get(path) !== (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  });
  expect(stale, 'run: bun run generate').toEqual([]);
}, 120_000);

test('every file is used, and every export by another file', () => {
  const result = run(bun, join(root, 'node_modules/.bin/knip'), '--no-progress');
  expect(result.output).toBe('');
  expect(result.code).toBe(0);
}, 120_000);

/** Permitted casts past the compiler, each with its reason. Removed casts must be removed from this list. */
const knownCasts: Readonly<Record<string, string>> = {
  'core/features/automations/shape.ts': 'A stored rule has the shape that was checked at its write.',
  'core/features/plugins/runs/runs.ts': 'A page of rows has the type of any row.',
  'core/features/plugins/schedules/routes.ts': 'A page of rows has the type of any row.',
  'core/features/plugins/trial/operations.ts': 'A page of rows has the type of any row.',
  'core/kernel/resource/directory.ts': 'Its sections are assembled by the names in the contracts.',
  'core/kernel/table/define.ts': 'A declaration gets its statements by the names of columns.',
  'core/kernel/table/statements.ts': 'Statements are assembled from the names of columns.',
  'core/platform/store/compile.ts': 'The types of libsql are looser than its statements.',
};

test('casts through unknown or any are listed with their reason', () => {
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
/** Matches `docs/spec/webhooks.md`, the section sign, and `Signature`. */
const section = /([^\s(]+) \u203a (?=(.{0,60}))/g;
/** Matches a document. Decisions are cited by number. */
const mention = /(?<![\w/])docs\/[\w/-]+(\.md)?/g;

test('documents and headings cited in comments exist', () => {
  const wrong = sources(...folders).flatMap(({ file, text }) => {
    // A citation may span two lines.
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

test('files named in docs/architecture.md and CONTRIBUTING.md exist', () => {
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

test.skipIf(!hasHistory)(
  'tracked files contain no machine path, registry host or leftover (needs git)',
  () => {
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
  },
);
