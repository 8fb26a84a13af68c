// Guest side of the contract in the real sandbox: globals and calls in the isolate, and results of runs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import * as errors from '../../sdk/plugin/errors.ts';
import { surface } from '../../core/platform/sandbox/sidecar/guest/generated/surface.ts';
import type { CallAnswer, SandboxJob, SandboxOutcome } from '../../core/platform/sandbox/supervisor.ts';
import { codeOf, jobOf, eventLimits, openSandbox, pluginOf, runToEnd } from './harness.ts';
import type { TestSandbox } from './harness.ts';

let sandbox: TestSandbox;

beforeAll(async () => {
  sandbox = await openSandbox();
});

afterAll(() => sandbox.stop());

let installs = 0;

async function runBody(body: string, more: Partial<SandboxJob> = {}, before = ''): Promise<SandboxOutcome> {
  return runToEnd(sandbox, jobOf(`ins_${installs++}`, await pluginOf(body, before), more));
}

describe('host calls', () => {
  test('pass an operation and JSON arguments, and return values', async () => {
    const seen: [string, string][] = [];
    const call = async (op: string, args: string): Promise<CallAnswer> => {
      seen.push([op, args]);
      return { ok: true, value: JSON.stringify({ nested: [1, null, 'ü'] }) };
    };
    const outcome = await runBody(
      `const a = await ctx.issues.update('iss_1', { title: 'ü' }, { ifVersion: 3 }); await ctx.comments.list('iss_1', undefined); ctx.log.info(a);`,
      { call },
    );
    expect(outcome).toMatchObject({
      status: 'succeeded',
      calls: 2,
      logs: [{ message: '{"nested":[1,null,"ü"]}' }],
    });
    expect(seen).toEqual([
      ['issues.update', '["iss_1",{"title":"ü"},{"ifVersion":3}]'],
      ['comments.list', '["iss_1"]'],
    ]);
  });

  test('fail with the host’s code and message, and reveal nothing of the host', async () => {
    const outcome = await runBody(
      `try { await ctx.issues.get('fail') } catch (e) { ctx.log.info(e.code, e.message, e instanceof Error) }`,
    );
    expect(outcome.logs[0]?.message).toBe('not_found There is no such issue. true');
    const thrown = await runBody(`await ctx.issues.get(1).catch((e) => ctx.log.info(e.code, e.message));`, {
      call: () => Promise.reject(new Error('SELECT secret FROM /srv/data')),
    });
    expect(thrown.logs[0]?.message).toBe(
      'internal_error The host call failed because of an error of the server. Retry it, or check the log of the server.',
    );
  });

  test("fail with the SDK's error class for their code", async () => {
    const classes = Object.values(errors).filter(({ code }) => !['retry_later', 'drop'].includes(code));
    const codeNames = classes.map(({ code, name }) => [
      code === 'error' ? 'precondition_required' : code,
      name,
    ]);
    const outcome = await runBody(
      `const told = [];
       for (const code of ${JSON.stringify(codeNames.map(([code]) => code))})
         await ctx.issues.get(code).catch((e) => told.push([e.code, e.name, String(e), e.stack.split(':')[0]]));
       ctx.log.info(told);`,
      { call: async (_, args) => ({ ok: false, error: { code: JSON.parse(args)[0], message: 'No.' } }) },
    );
    expect(JSON.parse(outcome.logs[0]!.message)).toEqual(
      codeNames.map(([code, name]) => [code, name, `${name}: No.`, name]),
    );
  });

  test('without their scope in the manifest fail with the missing scope, in every namespace', async () => {
    const all = surface.flatMap(({ name, scope, reads, writes }) => [
      ...reads.map((method) => [name, method, `${scope}:read`]),
      ...writes.map((method) => [name, method, `${scope}:write`]),
    ]);
    const code =
      await codeOf(`export default { scopes: { 'comments:read': {} }, on: { 'issue.created': { async handle(_, ctx) {
      const told = [];
      for (const [name, method, scope] of ${JSON.stringify(all)})
        await ctx[name][method]('x').then(() => told.push(scope), (e) =>
          told.push(e.code === 'insufficient_scope' && e.name === 'ScopeDenied' && e.message.includes('Add "' + scope + '"')));
      ctx.log.info(told);
      ctx.log.info(ctx.comments.constructor === Object, Object.isFrozen(ctx.comments), Object.keys(ctx.comments));
    } } } };`);
    const seen: string[] = [];
    const call = (op: string): Promise<CallAnswer> => {
      seen.push(op);
      return Promise.resolve({ ok: true, value: 'null' });
    };
    const { logs } = await runToEnd(sandbox, jobOf(`ins_${installs++}`, code, { call }));
    expect(JSON.parse(logs[0]!.message)).toEqual(
      all.map(([name, , scope]) =>
        scope === 'comments:read' && ['comments', 'reactions'].includes(name!) ? scope : true,
      ),
    );
    expect(logs[1]!.message).toBe('true true ["list","get"]');
    expect(seen).toEqual(['comments.list', 'comments.get', 'reactions.list', 'reactions.listOnIssue']);
    const { name, scope } = surface.find(({ reads, scope }) => reads.length > 0 && scope !== 'comments')!;
    const uncaught = await codeOf(
      `export default { scopes: {}, on: { 'issue.created': { async handle(_, ctx) { await ctx.${name}.list(); } } } };`,
    );
    const outcome = await runToEnd(sandbox, jobOf(`ins_${installs++}`, uncaught));
    expect(outcome).toMatchObject({
      status: 'failed',
      message: expect.stringContaining(`ctx.${name}.list needs the scope ${scope}:read`),
    });
  });

  test('queue beyond the concurrency limit', async () => {
    let open = 0;
    let most = 0;
    const call = async (): Promise<CallAnswer> => {
      most = Math.max(most, ++open);
      await Bun.sleep(1);
      open--;
      return { ok: true, value: 'null' };
    };
    const outcome = await runBody(
      `await Promise.all(Array.from({ length: 50 }, (_, i) => ctx.issues.get(i)));`,
      { call },
    );
    expect({ status: outcome.status, calls: outcome.calls, most }).toEqual({
      status: 'succeeded',
      calls: 50,
      most: eventLimits.concurrentCalls,
    });
  });

  test('without await still belong to the run', async () => {
    let done = false;
    const call = async (): Promise<CallAnswer> => {
      await Bun.sleep(30);
      done = true;
      return { ok: true, value: 'null' };
    };
    expect((await runBody(`void ctx.issues.get(1);`, { call })).status).toBe('succeeded');
    expect(done).toBe(true);
  });

  test('transfer two megabytes for KV, and 256 KB otherwise', async () => {
    const big = 'x'.repeat(2_000_000);
    const call = (op: string): Promise<CallAnswer> =>
      Promise.resolve({ ok: true, value: op === 'kv.set' ? 'null' : JSON.stringify(big) });
    const outcome = await runBody(
      `await ctx.kv.set('a', 'y'.repeat(2_000_000)); const v = await ctx.kv.get('a');
       const refused = await ctx.issues.get(1).catch((e) => e.code); const own = await ctx.comments.create('x'.repeat(300_000)).catch((e) => e.code);
       ctx.log.info(v.length, refused, own);`,
      { call, limits: { ...eventLimits, cpuMs: 1000 } },
    );
    expect(outcome.logs[0]?.message).toBe('2000000 too_large validation_failed');
  });

  test('exist only for declared scopes', async () => {
    const code =
      await codeOf(`export default { scopes: { 'issues:read': {} }, on: { 'issue.created': (e, ctx) => {
      ctx.log.info(Object.keys(ctx).sort(), Object.keys(ctx.issues), ctx.has('issues:read'), ctx.has('issues:write'), ctx.has('labels:read')); } } };`);
    const outcome = await sandbox.run(jobOf('ins_scopes', code));
    expect(outcome.logs[0]?.message).toBe(
      '["actions","fetch","has","issues","kv","log","now","random","relations","run","schedule","search","secrets","settings","sleep","subscribers","templates"] ["get","list"] true false false',
    );
  });
});

describe('end of a run', () => {
  const ending = async (body: string): Promise<unknown> => {
    const { status, ...rest } = await runBody(body);
    return [
      status,
      'reason' in rest ? rest.reason : undefined,
      'retryAfterMs' in rest ? rest.retryAfterMs : undefined,
    ];
  };

  test('nothing of a run is received after its end', async () => {
    const body = `
      void (async () => {
        for (let ticks = 0; ticks < 50; ticks++) await null;
        ctx.log.info('late');
        void ctx.issues.get(1);
      })();
      ctx.log.info('in time');`;
    const outcome = await runBody(body);
    expect(outcome).toMatchObject({ status: 'succeeded', calls: 0 });
    expect(outcome.logs.map(({ message }) => message)).toEqual(['in time']);
  });

  test('the result depends on the thrown error', async () => {
    expect(
      await ending(`throw Object.assign(new Error('busy'), { code: 'retry_later', afterMs: 5000 })`),
    ).toEqual(['failed', 'retry_later', 5000]);
    expect(await ending(`throw Object.assign(new Error('useless'), { code: 'drop' })`)).toEqual([
      'failed',
      'drop',
      undefined,
    ]);
    expect(await ending(`null.field`)).toEqual(['failed', 'error', undefined]);
    expect(await ending(`throw undefined`)).toEqual(['failed', 'error', undefined]);
  });

  test('the stack of an error is returned and names no file of the host', async () => {
    const outcome = await runBody(`throw new TypeError('odd');`);
    expect(outcome).toMatchObject({
      status: 'failed',
      reason: 'error',
      message: 'TypeError: odd',
      killed: false,
    });
    const stack = outcome.status === 'failed' ? outcome.stack : '';
    expect(stack).toContain('plugin.js');
    expect(stack).not.toMatch(/node_modules|\/core\/|file:/);
  });

  test('an oversized input is rejected without a run', async () => {
    expect(await runBody('', { input: JSON.stringify('x'.repeat(400_000)) })).toMatchObject({
      status: 'failed',
      reason: 'error',
      killed: false,
    });
  });
});

describe('limits', () => {
  test('a long computation runs in slices, up to the CPU time of its run', async () => {
    const slices = `let n = 0; for (let i = 0; i < 12; i++) { const end = 200_000; for (let j = 0; j < end; j++) n += j % 7; await ctx.sleep(0); }`;
    const limits = { ...eventLimits, cpuMs: 5000 };
    const outcome = await runBody(slices, { limits });
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(await runBody(slices, { limits: { ...limits, cpuMs: 8 } })).toMatchObject({
      status: 'failed',
      reason: 'cpu',
      killed: true,
    });
  });

  test('logs are limited in lines and bytes, with control characters escaped', async () => {
    const outcome = await runBody(`for (let i = 0; i < 300; i++) console.warn('\\u001b[31mline', i);`);
    expect(outcome.logs.length).toBeLessThanOrEqual(eventLimits.logLines + 1);
    expect(outcome.logs[0]).toMatchObject({ level: 'warn', message: '\\u001b[31mline 0' });
    const long = await runBody(`console.log('x'.repeat(1_000_000));`);
    expect(long.logs[0]?.message.length).toBe(eventLimits.logBytes);
  });

  test('usage is reported', async () => {
    const outcome = await runBody(
      `let n = 0; for (let i = 0; i < 300_000; i++) n += i; await ctx.issues.get(1);`,
    );
    expect(outcome.cpuMs).toBeGreaterThan(0);
    expect(outcome.memoryBytes).toBeGreaterThan(100_000);
    expect(outcome.wallMs).toBeGreaterThan(0);
  });
});

describe('isolates', () => {
  const counting = 'globalThis.runs = (globalThis.runs ?? 0) + 1; ctx.log.info(globalThis.runs);';
  const said = (outcome: SandboxOutcome): string | undefined => outcome.logs[0]?.message;

  test('are reused per install and partition; a replay gets a separate one', async () => {
    const code = await pluginOf(counting);
    const at = (partition: number, fresh = false): Promise<SandboxOutcome> =>
      sandbox.run(jobOf('ins_warm', code, { partition, fresh }));
    expect([
      said(await at(0)),
      said(await at(0)),
      said(await at(1)),
      said(await at(0, true)),
      said(await at(0)),
    ]).toEqual(['1', '2', '1', '1', '3']);
  });

  test('are discarded after a kill, on eviction and when the code changes', async () => {
    const code = await pluginOf(`${counting} if (event.data.loop) for (;;);`);
    const run = (event: object, source = code): Promise<SandboxOutcome> =>
      sandbox.run(
        jobOf('ins_thrown', source, {
          input: JSON.stringify({ event: { data: event }, run: {}, settings: {}, nowMs: 0, seed: 1 }),
        }),
      );
    expect([said(await run({})), said(await run({ loop: true })), said(await run({}))]).toEqual([
      '1',
      '2',
      '1',
    ]);
    sandbox.evict('ins_thrown');
    expect(said(await run({}))).toBe('1');
    expect(said(await run({}, await pluginOf(`${counting} /* next version */`)))).toBe('1');
  });

  test('of one partition run one job at a time and in order', async () => {
    const code = await pluginOf('await ctx.issues.get(event.n); await ctx.issues.get(event.n);');
    const order: number[] = [];
    const call = async (_op: string, args: string): Promise<CallAnswer> => {
      order.push((JSON.parse(args) as number[])[0] ?? 0);
      await Bun.sleep(2);
      return { ok: true, value: 'null' };
    };
    const job = (n: number): SandboxJob =>
      jobOf('ins_order', code, {
        call,
        input: JSON.stringify({ event: { n }, run: {}, settings: {}, nowMs: 0, seed: 1 }),
      });
    const outcomes = await Promise.all([1, 2, 3, 4].map((n) => sandbox.run(job(n))));
    expect(order).toEqual([1, 1, 2, 2, 3, 3, 4, 4]);
    expect(outcomes[3]?.queueMs).toBeGreaterThan(outcomes[0]?.queueMs ?? 0);
  });

  test('of several partitions run concurrently', async () => {
    const code = await pluginOf('await ctx.issues.get(1);');
    const other = Promise.withResolvers<CallAnswer>();
    const first = sandbox.run(jobOf('ins_side', code, { partition: 0, call: () => other.promise }));
    const second = await sandbox.run(jobOf('ins_side', code, { partition: 1 }));
    other.resolve({ ok: true, value: 'null' });
    expect([second.status, (await first).status]).toEqual(['succeeded', 'succeeded']);
  });

  test('are evicted above the cap, least recently used first', async () => {
    const small = await openSandbox({ isolatesMax: 2 });
    const code = await pluginOf(counting);
    const run = async (install: string): Promise<string | undefined> =>
      said(await small.run(jobOf(install, code)));
    expect([
      await run('a'),
      await run('b'),
      await run('a'),
      await run('c'),
      await run('a'),
      await run('b'),
    ]).toEqual(['1', '1', '2', '1', '3', '1']);
    await small.stop();
  });

  test('reject code with handlers that the manifest lacks, and imports', async () => {
    const code = { ...(await pluginOf('')), handlers: ['event:issue.created', 'schedule:nightly'] };
    expect(await sandbox.run(jobOf('ins_missing', code))).toMatchObject({
      status: 'failed',
      reason: 'startup',
    });
    const importing = await codeOf(
      `import fs from 'node:fs'; export default { on: { 'issue.created': () => fs } };`,
    );
    expect(await sandbox.run(jobOf('ins_import', importing))).toMatchObject({
      status: 'failed',
      reason: 'startup',
      killed: false,
    });
  });
});

test('stopping returns running and queued jobs as interrupted', async () => {
  const short = await openSandbox();
  const code = await pluginOf('await ctx.sleep(2000);');
  const jobs = [
    short.run(jobOf('ins_open', code)),
    short.run(jobOf('ins_open', code)),
    short.run(jobOf('ins_other', code)),
  ];
  await Bun.sleep(30);
  await short.stop();
  expect((await Promise.all(jobs)).map(({ status }) => status)).toEqual([
    'interrupted',
    'interrupted',
    'interrupted',
  ]);
  expect((await short.run(jobOf('ins_late', code))).status).toBe('interrupted');
});
