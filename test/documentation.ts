// The suites of documents and examples take a quarter of a run. On a developer's machine they are skipped, by
// name, while their inputs have not changed since a fully passed run. A fresh clone has no such record, and
// CI ignores it.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './imports.ts';

/** Inputs of every suite. */
const program = ['{core,sdk,plugins,bin}/**/*', '*.{json,lock,toml}', 'test/*.ts'];
const documents = ['docs/**/*', '*.md'];

/** Paths of the tests, each with its inputs besides the program. */
const suites: Readonly<Record<string, readonly string[]>> = {
  'test/examples.test.ts': ['examples/**/*'],
  'test/first-hour.test.ts': ['examples/**/*', 'build/**/*', 'test/cli/tatami.ts', ...documents],
  'test/docs-plugins.test.ts': ['examples/**/*', 'test/{cli,documents}/*.ts', ...documents],
  'test/docs-automations.test.ts': [
    'test/{cli,documents}/*.ts',
    'test/features/plugins/pack.ts',
    ...documents,
  ],
  'test/docs-page.test.ts': ['test/browser/*.ts', ...documents],
  'test/guides.test.ts': ['examples/**/*', 'test/**/*.ts', ...documents],
  'test/contributing.test.ts': ['{examples,test,bench,build}/**/*', ...documents],
  'test/sdk/package.test.ts': ['{build,examples}/**/*', 'test/{cli,sdk}/**/*', ...documents],
  'test/clients/clients.test.ts': ['test/{api,clients}/**/*'],
};

const recordFile = join(root, 'node_modules/.cache/tatami/documentation.json');
type Hashes = Readonly<Record<string, string>>;

/** Returns the hash of each suite over its paths and contents, in order, and the version of Bun. */
function hashesNow(): Hashes {
  const contents = new Map<string, string>();
  const hashOf = (path: string): string => {
    if (!contents.has(path))
      contents.set(
        path,
        createHash('sha256')
          .update(readFileSync(join(root, path)))
          .digest('hex'),
      );
    return contents.get(path)!;
  };
  return Object.fromEntries(
    Object.entries(suites).map(([suite, inputs]) => {
      const paths = [
        suite,
        ...[...program, ...inputs].flatMap((glob) => [...new Bun.Glob(glob).scanSync(root)]),
      ];
      const hash = createHash('sha256').update(Bun.version);
      for (const path of [...new Set(paths)].toSorted()) hash.update(`${path}\0${hashOf(path)}\0`);
      return [suite, hash.digest('hex')];
    }),
  );
}

function readRecord(): Hashes {
  if (!existsSync(recordFile)) return {};
  return JSON.parse(readFileSync(recordFile, 'utf8')) as Hashes;
}

export interface Documentation {
  /** Paths of the tests to leave out. */
  readonly skipped: readonly string[];
  /** Must be called after a run in which every test passed. */
  notePassed(): void;
}

/** @param runsAll true skips nothing */
export function openDocumentation(runsAll: boolean): Documentation {
  const record = readRecord();
  const now = hashesNow();
  return {
    skipped: runsAll ? [] : Object.keys(suites).filter((suite) => record[suite] === now[suite]),
    notePassed() {
      mkdirSync(dirname(recordFile), { recursive: true });
      // Inputs that changed during the run are not recorded.
      const after = hashesNow();
      const passed = Object.entries(now).filter(([suite, hash]) => after[suite] === hash);
      writeFileSync(recordFile, JSON.stringify(Object.fromEntries(passed)));
    },
  };
}
