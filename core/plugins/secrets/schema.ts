// The secrets of an install as they are given and shown.
import { Type } from 'typebox';
import { Closed, described, named, nullable, time } from '../../lib/schema.ts';

export const secretName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,39}$',
  description: 'As the manifest names it: `ACME_KEY`.',
});

export const SecretShown = named(
  'PluginSecret',
  Closed({
    name: Type.String({ description: 'As the manifest names it.' }),
    hosts: Type.Array(Type.String(), { description: 'The only origins that it is sent to.' }),
    header: Type.String({ description: 'The only header that it is sent in.' }),
    setAt: nullable(described(time, 'When it was set; null while it is not.')),
  }),
);

export const SecretSet = named(
  'PluginSecretSet',
  Closed({
    // Shorter ones stand in ordinary text, from which they could not be told.
    value: Type.String({
      pattern: '^[!-~]([ -~]*[!-~])?$',
      minLength: 8,
      maxLength: 4096,
      description: 'What is sent: 8 to 4,096 printable ASCII characters. It is never shown again.',
    }),
  }),
);
