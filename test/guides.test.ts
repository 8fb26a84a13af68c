// Runs each example of the guides, and compares its output. Also checks the pages of the server and the link
// of each error.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorCodes } from '../core/platform/lib/errors/errors.ts';
import { startApp, type TestApp } from './app.ts';
import { examplesOf, isLike, unlike } from './documents/blocks.ts';

const docs = join(import.meta.dir, '../docs');
const guides = ['guides', 'api'].flatMap((folder) =>
  readdirSync(join(docs, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => `${folder}/${file}`),
);
const hasCurl = Bun.which('curl') !== null;

describe.each(guides.filter((file) => examplesOf(read(file)).length > 0))('%s', (file) => {
  test.skipIf(!hasCurl)('the output equals the guide (needs curl)', async () => {
    const app = await startApp();
    const folder = mkdtempSync(join(tmpdir(), 'tatami-guide-'));
    try {
      for (const example of examplesOf(read(file))) {
        const output = await typed(example.typed, folder, app);
        const lines = output.split('\n').map((line) => line.trim());
        const answers = lines.filter((line) => line.startsWith('{'));
        for (const [at, { language, text }] of example.answers.entries()) {
          const where = `${file}:${example.line}`;
          if (language === 'json')
            expect({
              where,
              difference: unlike(JSON.parse(text), JSON.parse(answers[at] ?? 'null')),
            }).toEqual({ where, difference: null });
          else
            expect({ where, lines }).toSatisfy(() =>
              text
                .trim()
                .split('\n')
                .every((displayed) => lines.some((line) => isLike(displayed, line))),
            );
        }
      }
    } finally {
      rmSync(folder, { recursive: true });
      await app.stop();
    }
  });
});

describe('a server', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await startApp();
  });
  afterAll(() => app.stop());
  const get = (path: string) => app.clientOf(null)('GET', path);

  test('serves the guides without dead links', async () => {
    const seen = new Set<string>();
    const open = [
      '/docs/guides',
      '/docs/api',
      '/docs/spec',
      ...Object.keys(errorCodes).map((code) => `/docs/errors/${code}`),
    ];
    for (let path = open.pop(); path !== undefined; path = open.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const displayed = await get(path);
      expect([path, displayed.status]).toEqual([path, 200]);
      for (const [, to = '', hash = ''] of displayed.text.matchAll(/<a href="(\/[^"#]*)?(#[^"]*)?"/g)) {
        const page = to === '' ? displayed : await get(to);
        if (hash !== '' && to !== '/docs')
          expect([path, to, hash, page.text.includes(`id="${hash.slice(1)}"`)]).toEqual([
            path,
            to,
            hash,
            true,
          ]);
        if (to.startsWith('/docs/')) open.push(to);
      }
    }
    for (const file of guides) expect([...seen]).toContain(`/docs/${file.replace(/(\/README)?\.md$/, '')}`);
  });

  test('links each error to a page with its meaning and remedy', async () => {
    const refused = await app.call('GET', '/api/v1/issues?limit=0');
    const link = refused.headers.get('link') ?? '';
    expect(link).toBe('</docs/errors/validation_failed>; rel="describedby"');
    const page = await get(/<(.*)>/.exec(link)![1]!);
    expect(page.text).toContain('<h1 id="validation_failed">');
    expect(page.text).toContain('Status 422');
    const text = read('guides/errors.md');
    for (const code of Object.keys(errorCodes)) expect(text).toContain(`\n## ${code}\n`);
  });

  test('returns 404 for a missing document, also if an object property has its name', async () => {
    for (const path of [
      '/docs/guides/nothing',
      '/docs/guides/constructor',
      '/docs/errors/nothing',
      '/docs/spec/README',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
  });
});

function read(file: string): string {
  return readFileSync(join(docs, file), 'utf8');
}

async function typed(command: string, cwd: string, app: TestApp): Promise<string> {
  const { PATH = '' } = process.env;
  const child = Bun.spawn(['bash', '-e', '-c', command], {
    cwd,
    env: { PATH, TATAMI_SERVER: app.url, TATAMI_TOKEN: app.workspace.apiKey },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const [output, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  if (code !== 0) throw new Error(`The command exited with code ${code}:\n${command}\n${output}`);
  return output;
}
