// Plugins that the benchmarks install, packed as the CLI packs a folder.
import { sha256Hex, type PluginPackage } from '../sdk/plugin/manifest.ts';
import { packSource } from '../test/features/plugins/pack.ts';

/** Returns a plugin that reads each new issue and updates it. */
export function touch(partitions = 4): Promise<PluginPackage> {
  return packSource(`{
    id: 'touch', version: '1.0.0', engines: { tatami: '*' }, partitions: ${partitions},
    scopes: { 'issues:write': { why: 'bench' } },
    on: { 'issue.created': { async handle({ data }, { issues }) {
      const issue = await issues.get(data.id);
      await issues.update(issue.id, { priority: issue.title.length % 2 ? 'low' : 'medium' });
    } } },
  }`);
}

/** Returns a plugin that updates each new issue, like the rule that the benchmark compares it with. */
export function prioritize(): Promise<PluginPackage> {
  return packSource(`{
    id: 'prioritize', version: '1.0.0', engines: { tatami: '*' }, partitions: 4,
    scopes: { 'issues:write': { why: 'bench' } },
    on: { 'issue.created': { async handle({ data }, { issues }) {
      await issues.update(data.id, { priority: 'low' });
    } } },
  }`);
}

/** Returns a plugin that reads each new issue and a list of others before it updates the issue. */
export function careful(isolation: 'serializable' | 'none'): Promise<PluginPackage> {
  return packSource(`{
    id: 'careful', version: '1.0.0', engines: { tatami: '*' }, partitions: 4, isolation: '${isolation}',
    scopes: { 'issues:write': { why: 'bench' } },
    on: { 'issue.created': { async handle({ data }, { issues }) {
      const issue = await issues.get(data.id);
      const { data: urgent } = await issues.list({ filter: { priority: 'urgent' }, limit: 10 });
      await issues.update(issue.id, { priority: urgent.length > 0 ? 'low' : 'medium' });
    } } },
  }`);
}

/** Returns copies of a small plugin under different names, each with a slightly different source. */
export async function crowd(size: number): Promise<PluginPackage[]> {
  const { manifest, code, ...rest } = await touch(1);
  return Promise.all(
    Array.from({ length: size }, async (_, n) => {
      const own = `${code}\n// ${n}\n`;
      return {
        ...rest,
        manifest: { ...manifest, id: `touch-${n}` },
        code: own,
        sha256: await sha256Hex(own),
      };
    }),
  );
}

const attacks: Readonly<Record<string, string>> = {
  'loop-forever': 'for (;;);',
  'loop-awaiting': 'while (true) await null;',
  'loop-regex': "/^(a+)+$/.test('a'.repeat(40) + '!');",
  'allocate-arrays': 'const all = []; for (;;) all.push(new Array(10_000).fill(all.length));',
  'allocate-strings': "let text = 'x'; const all = []; for (;;) all.push((text += text.slice(0, 100_000)));",
  'allocate-map': "const map = new Map(); for (let n = 0; ; n++) map.set(n, 'value ' + n);",
  'spam-calls': 'for (;;) await issues.list({ limit: 100 });',
  'spam-log': "for (;;) log.info('spam '.repeat(200));",
};

/** Returns plugins that loop, allocate and spam on every new issue. */
export function hostile(): Promise<PluginPackage[]> {
  return Promise.all(
    Object.entries(attacks).map(([name, body]) =>
      packSource(`{
        id: '${name}', version: '1.0.0', engines: { tatami: '*' },
        scopes: { 'issues:write': { why: 'bench' } },
        on: { 'issue.created': { async handle(_, { issues, log }) { ${body} } } },
      }`),
    ),
  );
}
