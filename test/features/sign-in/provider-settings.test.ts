import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { signInSettings } from '../../../core/features/sign-in/settings.ts';
import { readConfig } from '../../../core/app/config/config.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tatami-providers-'));
  writeFileSync(join(folder, 'acme.secret'), 'of a file\n');
});
afterAll(() => rmSync(folder, { recursive: true }));

const provider = { key: 'acme', name: 'Acme', issuer: 'https://login.acme.example', clientId: 'tatami' };

/** @param written the file content, or the list in it */
function read(written: unknown, env: Record<string, string> = {}) {
  const text = typeof written === 'string' ? written : JSON.stringify(written);
  writeFileSync(join(folder, 'providers.json'), text);
  return readConfig({ identityProviders: 'providers.json' }, env, folder).settings.of(
    signInSettings.identityProviders,
  );
}

test('secrets come from a file beside the settings, or from the environment', () => {
  expect(read([{ ...provider, clientSecretFile: 'acme.secret' }])).toMatchObject([
    { key: 'acme', clientSecret: 'of a file', domains: [], takesInvitations: false },
  ]);
  const ofEnvironment = { ...provider, clientSecretEnv: 'ACME_SECRET' };
  expect(read([ofEnvironment], { ACME_SECRET: 'of the environment' })[0]?.clientSecret).toBe(
    'of the environment',
  );
  expect(read([provider])[0]?.clientSecret).toBeNull();
  expect(readConfig({}, {}, folder).settings.of(signInSettings.identityProviders)).toEqual([]);
});

const wrongs: readonly (readonly [string, unknown, string])[] = [
  ['no JSON', '[{"clientSecret": "s3cret"', 'a file with valid JSON'],
  ['no list', provider, 'a JSON list of providers'],
  ['a secret in the list itself', [{ ...provider, clientSecret: 's3cret' }], 'a JSON list of providers (/0'],
  ['an invalid key', [{ ...provider, key: 'Acme/..' }], 'a JSON list of providers (/0/key'],
  ['an invalid issuer', [{ ...provider, issuer: 'acme' }], 'a JSON list of providers (/0/issuer'],
  ['a repeated key', [provider, provider], 'its own key (acme appears twice)'],
  ['a missing secret', [{ ...provider, clientSecretFile: 'gone' }], 'a readable file'],
  ['an unset variable', [{ ...provider, clientSecretEnv: 'GONE' }], '(GONE is not set)'],
];

for (const [what, written, why] of wrongs)
  test(`${what} is rejected with an error that names the setting`, () => {
    const said = ((): string => {
      try {
        return JSON.stringify(read(written));
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(said).toStartWith('--identity-providers must be ');
    expect(said).toContain(why);
    expect(said).not.toContain('s3cret');
  });
