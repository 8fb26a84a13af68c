// Attacks 43 to 46: manipulated packages. A package is one document, so there is no archive with paths.
import type { PluginPackage } from '../plugin/manifest.ts';
import type { Forged } from './case.ts';

const manifest = (good: PluginPackage, change: object): object => ({
  ...good,
  manifest: { ...good.manifest, ...change },
});
const settings = (good: PluginPackage, properties: object): object =>
  manifest(good, { settings: { type: 'object', properties } });

const withCode = (good: PluginPackage, code: string): object => ({
  ...good,
  code,
  sha256: new Bun.CryptoHasher('sha256').update(code).digest('hex'),
});

export const supplyChain: readonly Forged[] = [
  { group: 43, name: 'an-archive', forge: () => 'PK\u0003\u0004../../../../etc/passwd' },
  { group: 43, name: 'a-longer-format', forge: (good) => ({ ...good, format: '../../tatami-plugin/1' }) },
  { group: 43, name: 'files-beside', forge: (good) => ({ ...good, files: { '../../evil.js': 'x' } }) },
  {
    group: 43,
    name: 'a-bomb-of-a-map',
    forge: (good) => ({
      ...good,
      sourceMap: { version: 3, sources: ['plugin.ts'], mappings: ';'.repeat(100_000) },
    }),
  },
  { group: 44, name: 'another-code', forge: (good) => ({ ...good, code: `${good.code}\n0;` }) },
  { group: 44, name: 'another-hash', forge: (good) => ({ ...good, sha256: '0'.repeat(64) }) },
  {
    group: 44,
    name: 'handlers-beside',
    forge: (good) => manifest(good, { handlers: [...good.manifest.handlers, 'event:issue.deleted'] }),
  },
  { group: 44, name: 'unknown-members', forge: (good) => manifest(good, { admin: true }) },
  {
    group: 44,
    name: 'unknown-scopes',
    forge: (good) => manifest(good, { scopes: { '*:write': { why: 'all of it' } } }),
  },
  { group: 45, name: 'look-alike-ids', forge: (good) => manifest(good, { id: 'tatami.\u0430ttack' }) },
  { group: 45, name: 'ids-of-paths', forge: (good) => manifest(good, { id: '../auto-triage' }) },
  { group: 45, name: 'odd-versions', forge: (good) => manifest(good, { version: '1.0.0\n2.0.0' }) },
  // The valid package is installed under the same id.
  { group: 45, name: 'a-downgrade', forge: (good) => manifest(good, { version: '0.9.0' }) },
  {
    group: 45,
    name: 'a-version-again',
    forge: (good) => withCode(good, `${good.code}\n0;`),
  },
  {
    group: 46,
    name: 'references-in-settings',
    forge: (good) => settings(good, { a: { $ref: 'file:///etc/passwd' } }),
  },
  {
    group: 46,
    name: 'patterns-in-settings',
    forge: (good) => settings(good, { a: { type: 'string', pattern: '^(a+)+$' } }),
  },
  { group: 46, name: 'escapes-in-names', forge: (good) => manifest(good, { name: '\u001b[2Jowned' }) },
  {
    group: 46,
    name: 'escapes-in-why',
    forge: (good) => manifest(good, { scopes: { 'issues:read': { why: 'a\u202eb' } } }),
  },
];
