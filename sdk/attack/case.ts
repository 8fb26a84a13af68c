// Kinds of attacks: a hostile plugin, a package that must be refused, and a scene with several plugins or callers.
import type { PluginPackage } from '../plugin/manifest.ts';
import type { AttackVerdict } from './judge.ts';
import type { Stage } from './stage.ts';

/**
 * A hostile plugin that runs for an issue. Its body pushes what it reached to `found`, which stays empty if the sandbox holds. It has
 * `event`, `ctx`, `found`, and `stranger`: the id of an object that it may not read.
 */
export interface Hostile {
  readonly group: number;
  readonly name: string;
  /** Statements of the handler. */
  readonly body: string;
  /** Statements of the module, before the definition. */
  readonly prelude?: string;
  /** Requested scopes; by default to write issues and comments. */
  readonly scopes?: PluginPackage['manifest']['scopes'];
  /** Other parts of its manifest. */
  readonly manifest?: Pick<PluginPackage['manifest'], 'net' | 'secrets'>;
  /** `stopped`: its run fails with a reason. `harmless`: it succeeds and finds nothing. `either`: both are accepted. */
  readonly ends: 'stopped' | 'harmless' | 'either';
  /** Number of issues that it runs for, one after the other. */
  readonly runs?: number;
  /** Error code that its run must have. */
  readonly code?: string;
  /** It also receives changes of the issue, including its own, and runs again: the error of the run that is cut must say so. */
  readonly isLoop?: true;
}

/** A package that must be refused. */
export interface Forged {
  readonly group: number;
  readonly name: string;
  /** Derives it from a valid package; a string is sent in place of the package. */
  forge(good: PluginPackage): unknown;
}

/** An attack that creates what it needs on the stage and judges itself. */
export interface Scene {
  readonly group: number;
  readonly name: string;
  play(stage: Stage): Promise<AttackVerdict>;
}

/** Prefix of the plugin ids and issue titles of a suite. */
export const ownPrefix = 'tatami.attack-';

export const writing: NonNullable<Hostile['scopes']> = {
  'issues:write': { why: 'an attack of the suite' },
  'comments:write': { why: 'an attack of the suite' },
};

/** Returns the code of a plugin around the body. */
function sourceOf(
  { body, prelude = '', scopes = writing, manifest, isLoop }: Hostile,
  stranger: string,
): string {
  const on = `{ async handle(event, ctx) {
    const found = [];
    ${body}
    ctx.log.info(found.length === 0 ? 'clean' : 'found ' + found.join(', '));
  } }`;
  const handlers = isLoop ? `'issue.created': handler, 'issue.updated': handler` : `'issue.created': handler`;
  return `const stranger = ${JSON.stringify(stranger)};
${prelude}
const handler = ${on};
export default { scopes: ${JSON.stringify(Object.keys(scopes))}, secrets: ${JSON.stringify(manifest?.secrets ?? {})}, on: { ${handlers} } };
`;
}

/** Returns the package of a hostile plugin, which subscribes only to issues with this title. */
export function packageOf(hostile: Hostile, id: string, title: string, stranger: string): PluginPackage {
  const code = sourceOf(hostile, stranger);
  const heard = { filter: { title }, ...(hostile.isLoop ? { self: 'deliver' as const } : {}) };
  const on: PluginPackage['manifest']['on'] = {
    'issue.created': heard,
    ...(hostile.isLoop ? { 'issue.updated': heard } : {}),
  };
  return packageAround(code, {
    ...hostile.manifest,
    id,
    name: `attack: ${hostile.name}`,
    scopes: hostile.scopes ?? writing,
    on,
    handlers: Object.keys(on ?? {}).map((type) => `event:${type}`),
  });
}

type Manifest = PluginPackage['manifest'];

/** @param manifest without version and engines, which all attacks share */
export function packageAround(code: string, manifest: Omit<Manifest, 'version' | 'engines'>): PluginPackage {
  return {
    format: 'tatami-plugin/1',
    manifest: { version: '1.0.0', engines: { tatami: '*' }, ...manifest },
    code,
    sha256: new Bun.CryptoHasher('sha256').update(code).digest('hex'),
  };
}
