// What a version of a plugin asks for, as the API shows it.
import { Type, type Static } from 'typebox';
import { Closed, enumeration, named, nullable } from '../../lib/schema.ts';
import { publisher, scheduleFields } from './contract.ts';

const text = (description: string) => Type.String({ description });
const texts = (description: string) => Type.Array(Type.String(), { description });

/** Of everything that is asked. */
const told = {
  sentence: text('What it lets the plugin do.'),
  added: Type.Boolean({ description: 'Whether the version before did not ask for it, or for less.' }),
  before: nullable(
    text('What the version before asked for in its place; null where that is the same, or nothing.'),
  ),
};
const why = text('What it needs it for, as its author says.');

export const Consent = named(
  'PluginAsks',
  Closed({
    version: text('The version of the package.'),
    sha256: text('The SHA-256 of its code, in hex.'),
    digest: text('SHA-256 of its manifest and code, in hex; a consent sends it.'),
    publisher,
    signature: text('Who signed it, in a sentence.'),
    scopes: Type.Array(
      Closed({
        scope: text('Such as `issues:write`.'),
        why,
        rows: nullable(
          Type.Record(Type.String(), Type.Array(Type.String()), {
            description: 'The only objects that it reads and writes; null for all.',
          }),
        ),
        fields: nullable(texts('The only fields; null for all.')),
        granted: Type.Boolean({ description: 'Whether the plugin has it already.' }),
        ...told,
      }),
      { description: 'The rights that it asks for.' },
    ),
    hosts: Type.Array(
      Closed({
        origin: text('An address that it may send to.'),
        methods: nullable(texts('The only methods; null for all.')),
        path: nullable(text('The only path, or with `/` at its end all below it; null for all.')),
        why,
        ...told,
      }),
      { description: 'Where it may send.' },
    ),
    secrets: Type.Array(
      Closed({
        name: text('Such as `ACME_KEY`.'),
        hosts: texts('The only origins that it is sent to.'),
        header: text('The only header that it is sent in.'),
        ...told,
      }),
      { description: 'What an administrator puts in for it.' },
    ),
    events: Type.Array(Closed({ type: text('Such as `issue.created`.'), ...told }), {
      description: 'The events that it is sent.',
    }),
    schedules: Type.Array(Closed({ ...scheduleFields, ...told }), { description: 'When it runs by itself.' }),
    actions: Type.Array(
      Closed({
        name: text('What it is called by.'),
        target: enumeration('ActionTarget', ['issue', 'project', 'none'], 'What it is done on.'),
        ...told,
      }),
      { description: 'What people can have it do.' },
    ),
    routes: Type.Array(
      Closed({
        name: text('What it is called in the manifest.'),
        method: enumeration('RouteMethod', ['GET', 'POST'], 'How it is asked.'),
        auth: enumeration('RouteAuth', ['hmac', 'public'], 'Whether what is sent has to be signed.'),
        why,
        ...told,
      }),
      { description: 'What others may send it, once an administrator opens that.' },
    ),
    removed: texts('Sentences of what the version before asked for, and this one does not.'),
    unhandled: texts('Sentences of one-off runs that wait and that this version has no handler for.'),
  }),
);
export type Consent = Static<typeof Consent>;
