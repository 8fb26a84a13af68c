// Settings of plugins: recordings of runs, and trusted publishers.
import { defineSetting } from '../../kernel/settings.ts';
import { isPublicKey, keyIdOf } from './installs/versions/signature.ts';

/** Trusted keys by key id. A publisher can have several, for example during a key rotation. */
export type TrustedKeys = ReadonlyMap<string, { readonly publisher: string; readonly publicKey: string }>;

export const pluginSettings = {
  recordRuns: defineSetting({
    env: 'TATAMI_RECORD_RUNS',
    fallback: 'on',
    text: 'Recording of plugin runs, `on` or `off`; runs without a recording cannot be replayed.',
    read: ({ choice }) => choice(['on', 'off']) === 'on',
  }),
  pluginTrust: defineSetting({
    env: 'TATAMI_PLUGIN_TRUST',
    fallback: '',
    text: 'Trusted plugin publishers, comma-separated, such as acme=KEY with the public key from `tatami plugins keygen`.',
    read: ({ list, fail }): TrustedKeys => readPublishers(list(), fail),
  }),
  pluginUnsigned: defineSetting({
    env: 'TATAMI_PLUGIN_UNSIGNED',
    fallback: 'confirm',
    text: '`refuse` installs only plugins of trusted publishers; `confirm` accepts others by hash, or any if no publisher is trusted.',
    read: ({ choice }) => choice(['confirm', 'refuse']),
  }),
};

function readPublishers(entries: readonly string[], fail: (wanted: string) => never): TrustedKeys {
  return new Map(
    entries.map((entry) => {
      const [, publisher = '', publicKey = ''] = /^([^=]{1,100})=(.+)$/.exec(entry) ?? [];
      if (!isPublicKey(publicKey))
        return fail('a list of publishers such as acme=KEY, with a key from `tatami plugins keygen`');
      return [keyIdOf(publicKey), { publisher: publisher.trim(), publicKey }];
    }),
  );
}
