// Installs compiled rules as plugins, and runs them through the API.
import { expect } from 'bun:test';
import { packFirstParty } from '../../../core/features/plugins/packages.ts';
import { staticManifest } from '../../../core/platform/sandbox/sidecar/guest/definition.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256Hex, type PluginPackage } from '../../../sdk/plugin/manifest.ts';
import type { Json, TestApp } from '../../app.ts';
import { install } from '../plugins/pack.ts';

const v1 = '/api/v1';

export interface Rules {
  /** Sends a request that must succeed. @returns the body of the response */
  ok(method: string, path: string, body?: unknown): Promise<Json>;
  issue(more?: object): Promise<Json>;
  get(issue: Json): Promise<Json>;
  /** Installs a rule. @returns its id */
  rule(actions: readonly object[], more?: RuleOptions): Promise<string>;
  /** Runs a rule on an issue. @returns the run */
  run(rule: string, issue: Json): Promise<Json>;
  /** Installs a rule and runs it on an issue. @returns the run, which succeeded */
  act(actions: readonly object[], issue: Json, more?: RuleOptions): Promise<Json>;
  /** Returns types of the events of changes since a sequence. */
  typesSince(sequence: number): Promise<string[]>;
  lastRun(rule: string): Promise<Json>;
}

interface RuleOptions {
  readonly conditions?: object;
  readonly issues?: object | null;
  readonly hosts?: object;
  readonly matched?: boolean;
  /** Event types that the rule receives; default none. */
  readonly on?: readonly string[];
  /** Members of the definition that replace those of the plugin, as source text. */
  readonly members?: string;
  readonly name?: string;
}

const packed = new Map<string, Promise<PluginPackage>>();

/** Packs the plugin with other members, as the server narrows it for a rule. */
async function packRule(members: string): Promise<PluginPackage> {
  const known = packed.get(members) ?? packNarrowed(members);
  packed.set(members, known);
  return structuredClone(await known);
}

async function packNarrowed(members: string): Promise<PluginPackage> {
  const document = await packFirstParty('automations');
  const code = document.code.replace(
    /export\{(\w+) as default\};?\s*$/,
    (_, name: string) => `const narrowed={...${name},${members}};export{narrowed as default};\n`,
  );
  const dir = mkdtempSync(join(tmpdir(), 'tatami-rule-'));
  try {
    writeFileSync(join(dir, 'bundle.js'), code);
    const { default: definition } = (await import(join(dir, 'bundle.js'))) as { default: unknown };
    const manifest = JSON.parse(staticManifest(definition)) as PluginPackage['manifest'];
    const { sourceMap: _, ...rest } = document;
    return { ...rest, code, manifest, sha256: await sha256Hex(code) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

let rules = 0;

export function rulesOf(app: () => TestApp): Rules {
  const ok: Rules['ok'] = async (method, path, body) => {
    const { status, json } = await app().call(method, v1 + path, body);
    if (status >= 300) throw new Error(`${method} ${path} answered ${status}: ${JSON.stringify(json)}`);
    return json;
  };
  const rule: Rules['rule'] = async (actions, more = {}) => {
    const { on = [], members = '', name = 'Automations', conditions = {}, issues = null, ...rest } = more;
    const handlers = on.map((type) => `${JSON.stringify(type)}:{handle:onEvent}`);
    const document = await packRule(`on:{${handlers.join()}},${members}`);
    const id = `com.test.rule-${++rules}`;
    Object.assign(document.manifest, { id });
    await install(app().call, document, {
      settings: {
        rule: { id, name, version: 1 },
        trigger: { type: 'manual' },
        ...{ conditions, issues, actions, matched: true, hosts: {} },
        ...rest,
      },
    });
    return id;
  };
  const run: Rules['run'] = async (id, issue) => {
    const json = await ok('POST', `/plugins/${id}/actions/run`, { target: issue.id, input: {} });
    await app().settled();
    return json;
  };
  return {
    ok,
    rule,
    run,
    issue: async (more = {}) => {
      const { id } = await ok('POST', '/issues', { team: 'ENG', title: 'One', ...more });
      await app().settled();
      return ok('GET', `/issues/${id}`);
    },
    get: ({ id }) => ok('GET', `/issues/${id}`),
    async act(actions, issue, more) {
      const result = await run(await rule(actions, more), issue);
      expect([result.status, result.error]).toEqual(['succeeded', null]);
      return result;
    },
    async typesSince(sequence) {
      const { data } = await ok('GET', `/events?limit=100&after=${sequence}`);
      return data.map(({ type }: Json) => type).filter((type: string) => !/^(automation|inbox)\./.test(type));
    },
    lastRun: async (id) => (await ok('GET', `/plugins/${id}/runs?limit=1`)).data[0],
  };
}
