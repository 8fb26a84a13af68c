// API schema of the permissions that a plugin version requests.
import { Type, type Static } from 'typebox';
import { Closed, enumeration, namedSchema, nullable } from '../../../../platform/lib/schema.ts';
import { publisher, scheduleFields } from '../contract.ts';

const text = (description: string) => Type.String({ description });
const texts = (description: string) => Type.Array(Type.String(), { description });

const requestFields = {
  sentence: text('Description of what the request allows.'),
  added: Type.Boolean({
    description: 'True if the previous version did not request this, or requested less.',
  }),
  before: nullable(
    text('Corresponding request of the previous version; null if there was none, or the same one.'),
  ),
};
const why = text('Reason, by the author of the plugin.');

export const Consent = namedSchema(
  'PluginRequests',
  Closed({
    version: text('Version of the package.'),
    sha256: text('SHA-256 of the code, in hex.'),
    digest: text('SHA-256 of manifest and code, in hex, to be sent with a consent.'),
    publisher,
    signature: text('Sentence about the signature.'),
    scopes: Type.Array(
      Closed({
        scope: text('Name of the scope, such as `issues:write`.'),
        why,
        rows: nullable(
          Type.Record(Type.String(), Type.Array(Type.String()), {
            description: 'Rows to which the scope is narrowed; null for all.',
          }),
        ),
        fields: nullable(texts('Fields to which the scope is narrowed; null for all.')),
        granted: Type.Boolean({ description: 'True if the scope is already granted.' }),
        ...requestFields,
      }),
      { description: 'Requested scopes.' },
    ),
    hosts: Type.Array(
      Closed({
        origin: text('Origin that the plugin can send to.'),
        methods: nullable(texts('Allowed methods; null for all.')),
        path: nullable(
          text('Allowed path; a path that ends with `/` includes all paths below; null for all.'),
        ),
        why,
        ...requestFields,
      }),
      { description: 'Requested hosts.' },
    ),
    secrets: Type.Array(
      Closed({
        name: text('Name of the secret, such as `ACME_KEY`.'),
        hosts: texts('Origins that the secret is sent to.'),
        header: text('Header that the secret is sent in.'),
        ...requestFields,
      }),
      { description: 'Secrets that an administrator sets.' },
    ),
    events: Type.Array(Closed({ type: text('Event type, such as `issue.created`.'), ...requestFields }), {
      description: 'Requested events.',
    }),
    schedules: Type.Array(Closed({ ...scheduleFields, ...requestFields }), {
      description: 'Requested schedules.',
    }),
    actions: Type.Array(
      Closed({
        name: text('Name of the action.'),
        target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'Type of the target.'),
        ...requestFields,
      }),
      { description: 'Actions that the plugin offers.' },
    ),
    routes: Type.Array(
      Closed({
        name: text('Name of the route in the manifest.'),
        method: enumeration('RouteMethod', ['GET', 'POST'], 'HTTP method of the route.'),
        auth: enumeration(
          'RouteAuth',
          ['hmac', 'public'],
          'Authentication of requests: `hmac` requires a signature, `public` none.',
        ),
        why,
        ...requestFields,
      }),
      { description: 'Inbound routes, each closed until an administrator opens it.' },
    ),
    removed: texts('Requests of the previous version that this version no longer makes, one sentence each.'),
    unhandled: texts('Sentences about pending one-time jobs that this version has no handler for.'),
  }),
);
export type Consent = Static<typeof Consent>;
