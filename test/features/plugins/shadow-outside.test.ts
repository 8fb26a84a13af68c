// A shadow sends nothing: requests of the original run get their stored responses, and other requests are refused.
import { expect, test } from 'bun:test';
import type { Json } from '../../app.ts';
import { outsideOfFile } from './outside.ts';
import { packSource } from './pack.ts';

const outside = outsideOfFile();
const { definition, origin, seen } = outside;

test('a request of the original run gets its stored response, another one is refused, and neither is sent', async () => {
  const asksMore = definition
    .replace(`version: '1.0.0'`, `version: '2.0.0'`)
    .replace(
      'for (const request of requests)',
      `for (const request of [...requests, ['${origin}/v1/more', { method: 'POST', body: 'x' }]])`,
    )
    .replace(
      'await ctx.kv.set',
      'await ctx.issues.update(event.data.id, { title: results.map(({ status, code }) => code ?? status).join() }); await ctx.kv.set',
    );
  const path = `/api/v1/plugins/${outside.plugin.id}/shadow`;
  const begun = await outside.app.call('POST', path, { package: await packSource(asksMore) });
  expect(begun.status).toBe(201);

  const issue = await outside.file([[`${origin}/v1/asked`]]);
  expect(seen.map(({ path }) => path)).toEqual(['/v1/asked']);
  const { report }: Json = (await outside.app.call('GET', path)).json;
  expect(report).toMatchObject({ runs: 1, different: 1, failed: 0 });
  // The comment contains the response and is the same in both.
  expect(report.differences[0].fields).toEqual([
    { object: `issue ${issue.id}`, field: 'title', real: null, shadow: '200,egress_denied' },
  ]);
  expect((await outside.app.call('GET', `/api/v1/issues/${issue.id}`)).json.title).toBe('ask');
  const types = await outside.app.eventTypes(0);
  expect(types.filter((type) => type === 'comment.added')).toHaveLength(1);
  expect(types).not.toContain('issue.updated');
});
