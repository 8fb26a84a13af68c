// What an attack is: a hostile plugin, a package that must be refused, or what takes more than one plugin and one caller. The suite and its
// tests share one list of them.
import type { PluginPackage } from '../../../../../sdk/plugin/manifest.ts';
import type { AttackVerdict } from './judge.ts';
import type { Stage } from './stage.ts';

/**
 * A hostile plugin that is run for an issue. Its body pushes to `found` what it got hold of, and that is nothing where the wall holds.
 * `event`, `ctx` and `found` are in its reach, and `stranger`, the id of an object that it may not see.
 */
export interface Hostile {
  readonly group: number;
  readonly name: string;
  /** Statements of the handler. */
  readonly body: string;
  /** Statements of the module, before the definition. */
  readonly prelude?: string;
  /** What it asks for; by default to write issues and comments. */
  readonly scopes?: PluginPackage['manifest']['scopes'];
  /** What else its manifest says. */
  readonly manifest?: Pick<PluginPackage['manifest'], 'net' | 'secrets'>;
  /** `stopped`: its run fails, and says why. `harmless`: it ends, and found nothing. `either`: whichever limit it meets first. */
  readonly ends: 'stopped' | 'harmless' | 'either';
  /** Issues that it is run for, one after the other. */
  readonly runs?: number;
  /** The code that the error of its run must have, where there is but one right answer. */
  readonly code?: string;
  /** It also hears of changes of the issue, its own too, at which its body is run again: a run that is cut off must say so. */
  readonly isLoop?: true;
}

/** A package that must be refused. */
export interface Forged {
  readonly group: number;
  readonly name: string;
  /** Makes it out of a good one; a text is sent as it is, in place of the package. */
  forge(good: PluginPackage): unknown;
}

/** It makes what it needs on the stage, and says itself what came of it. */
export interface Scene {
  readonly group: number;
  readonly name: string;
  play(stage: Stage): Promise<AttackVerdict>;
}

/** Begins the id of every install and the title of every issue of a suite. */
export const ownPrefix = 'tatami.attack-';

export const writing: NonNullable<Hostile['scopes']> = {
  'issues:write': { why: 'an attack of the suite' },
  'comments:write': { why: 'an attack of the suite' },
};

/** The code of a plugin around the body. */
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

/** The package of a hostile plugin, which meets the issues of this title alone. */
export function packageOf(hostile: Hostile, id: string, title: string, stranger: string): PluginPackage {
  const code = sourceOf(hostile, stranger);
  const heard = { filter: { title }, ...(hostile.isLoop ? { self: 'deliver' as const } : {}) };
  const on: PluginPackage['manifest']['on'] = {
    'issue.created': heard,
    ...(hostile.isLoop ? { 'issue.updated': heard } : {}),
  };
  return packageAround(code, {
    ...{ id, name: `attack: ${hostile.name}`, scopes: hostile.scopes ?? writing },
    ...{ ...hostile.manifest, on, handlers: Object.keys(on ?? {}).map((type) => `event:${type}`) },
  });
}

type Manifest = PluginPackage['manifest'];

/** @param manifest what is its own; version and engines are those of any attack */
export function packageAround(code: string, manifest: Omit<Manifest, 'version' | 'engines'>): PluginPackage {
  return {
    format: 'tatami-plugin/1',
    manifest: { version: '1.0.0', engines: { tatami: '*' }, ...manifest },
    code,
    sha256: new Bun.CryptoHasher('sha256').update(code).digest('hex'),
  };
}
