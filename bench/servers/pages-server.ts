// Baseline server for pages of Tatami: bare `Bun.serve`, the statements of each page one after the other, and `JSON.stringify` of
// their rows. It has no authentication, limits, headers, names or response mapping.
import Database from 'libsql';
import { answerParent } from '../children.ts';
import { prepare } from './prepared.ts';
import type { RecordedStatement } from './recorded.ts';

export interface PagesStart {
  readonly database: string;
  /** Statements of each page, by path with query. */
  readonly pages: Readonly<Record<string, readonly RecordedStatement[]>>;
}

function start({ database, pages }: PagesStart): { url: string } {
  const db = new Database(database);
  for (const pragma of ['query_only = ON', 'cache_size = -65536', 'temp_store = MEMORY'])
    db.prepare(`PRAGMA ${pragma}`).all();
  const pageOf = new Map(
    Object.entries(pages).map(([path, statements]) => [
      path,
      statements.map((statement) => ({ run: prepare(db, statement), values: statement.values })),
    ]),
  );
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ url }) {
      const page = pageOf.get(url.slice(url.indexOf('/', 8)));
      if (!page) return new Response('{}', { status: 404 });
      return new Response(JSON.stringify(page.map(({ run, values }) => run(values))), {
        headers: { 'content-type': 'application/json' },
      });
    },
  });
  return { url: `http://127.0.0.1:${server.port}` };
}

answerParent({ start });
