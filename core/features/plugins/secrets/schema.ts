import { Type } from 'typebox';
import { Closed, described, namedSchema, nullable, time } from '../../../platform/lib/schema.ts';

export const secretName = Type.String({
  pattern: '^[A-Z][A-Z0-9_]{0,39}$',
  description: 'Name of the secret in the manifest, such as `ACME_KEY`.',
});

export const SecretResponse = namedSchema(
  'PluginSecret',
  Closed({
    name: Type.String({ description: 'Name of the secret in the manifest.' }),
    hosts: Type.Array(Type.String(), { description: 'Origins that the secret is sent to.' }),
    header: Type.String({ description: 'Header that the secret is sent in.' }),
    setAt: nullable(described(time, 'Time at which the secret was last set; null while unset.')),
  }),
);

export const SecretSet = namedSchema(
  'PluginSecretSet',
  Closed({
    // A shorter value could match ordinary text in responses, which `createRedact` must not change.
    value: Type.String({
      pattern: '^[!-~]([ -~]*[!-~])?$',
      minLength: 8,
      maxLength: 4096,
      description: 'Value of the secret: 8 to 4,096 printable ASCII characters. Never shown again.',
    }),
  }),
);
