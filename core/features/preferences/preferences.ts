// Preferences of members for the web app. A value that a member has not set is stored as null, so that it
// follows a later default.
import { Type, type Static } from 'typebox';
import type { ChangeSet } from '../../kernel/changes/change.ts';
import { plain } from '../../kernel/changes/operations.ts';
import type { Context } from '../../kernel/context.ts';
import { defineRoute } from '../../kernel/http/route.ts';
import { modelOf } from '../../kernel/resource/model.ts';
import { requireMember } from '../../kernel/rights/rights.ts';
import { Closed, described, enumeration, idAndName, idOf, namedSchema } from '../../platform/lib/schema.ts';
import { member } from '../people/contract.ts';
import { densities, startPages, themes } from './contract.ts';

const defaults = {
  theme: 'system',
  density: 'comfortable',
  singleKeyShortcuts: true,
  startPage: 'my_issues',
} as const;

const docs = {
  theme: 'Color theme: `system` follows the device.',
  density: 'Height of the rows of lists.',
  singleKeyShortcuts: 'True if keyboard shortcuts without a modifier key work.',
  startPage: 'Screen that opens at the root of the web app.',
} as const;

/** Generators of clients would make a property with `default` required, so its description states the default. */
const withDefault = (name: keyof typeof defaults): string => `${docs[name]} Default: \`${defaults[name]}\`.`;

const values = {
  theme: enumeration('PreferencesTheme', themes, docs.theme),
  density: enumeration('PreferencesDensity', densities, docs.density),
  singleKeyShortcuts: Type.Boolean({ description: docs.singleKeyShortcuts }),
  startPage: enumeration('PreferencesStartPage', startPages, docs.startPage),
};

const Preferences = namedSchema('Preferences', Closed(values));
const PreferencesPut = namedSchema(
  'PreferencesPut',
  Closed({
    theme: Type.Optional({ ...values.theme, description: withDefault('theme') }),
    density: Type.Optional({ ...values.density, description: withDefault('density') }),
    singleKeyShortcuts: Type.Optional(Type.Boolean({ description: withDefault('singleKeyShortcuts') })),
    startPage: Type.Optional({ ...values.startPage, description: withDefault('startPage') }),
  }),
);
export const PreferencesEvent = namedSchema(
  'MemberPreferences',
  Closed({
    member: described(idAndName(idOf(member.id), 'the member'), 'Member whose preferences these are.'),
    ...values,
  }),
);

type Values = Static<typeof Preferences>;
type StoredValues = { readonly [K in keyof Values]: Values[K] | null };
type Stored = StoredValues & {
  /** Id of the member. */
  readonly id: string;
  readonly version: number;
};

const preferencesModel = modelOf<Stored, Static<typeof PreferencesEvent>>({
  name: 'member_preferences',
  table: 'member_preferences',
  fields: {
    theme: 'theme',
    density: 'density',
    singleKeyShortcuts: {
      ...plain('single_key_shortcuts'),
      read: (value) => (value === null ? null : value === 1),
      write: (value) => (value === null ? null : Number(value)),
    },
    startPage: 'start_page',
  },
  withoutPrevious: true,
  toResponse: ({ id, ...stored }, { directory }) => ({
    member: { id, name: directory.members.get(id)?.name ?? '' },
    ...withDefaults(stored),
  }),
  events: () => ['preferences.updated'],
});

const withDefaults = (stored: StoredValues): Values => ({
  theme: stored.theme ?? defaults.theme,
  density: stored.density ?? defaults.density,
  singleKeyShortcuts: stored.singleKeyShortcuts ?? defaults.singleKeyShortcuts,
  startPage: stored.startPage ?? defaults.startPage,
});

const unset: StoredValues = { theme: null, density: null, singleKeyShortcuts: null, startPage: null };

async function getPreferences(ctx: Context): Promise<Values> {
  return withDefaults((await preferencesModel.find(ctx, requireMember(ctx))) ?? unset);
}

/** Omitted values return to their defaults. */
async function putPreferences(ctx: Context, input: Partial<Values>): Promise<ChangeSet<Values>> {
  const id = requireMember(ctx);
  const next = { ...unset, ...input };
  const known = await preferencesModel.find(ctx, id);
  const isNew = !known && Object.keys(input).length > 0;
  const change = known
    ? preferencesModel.update(known, next, ctx.nowMs())
    : isNew
      ? preferencesModel.create({ id, ...next })
      : null;
  return { changes: change ? [change] : [], body: withDefaults(next) };
}

const path = '/api/v1/me/preferences';

export const preferencesRoutes = [
  defineRoute({
    method: 'GET',
    path,
    name: 'me.preferences.get',
    summary: 'Get your preferences for the web app',
    scope: 'preferences:read',
    limit: 'read',
    responses: { 200: Preferences },
    errors: ['forbidden'],
    read: (ctx) => getPreferences(ctx),
  }),
  defineRoute({
    method: 'PUT',
    path,
    name: 'me.preferences.put',
    summary: 'Replace your preferences for the web app',
    description: 'Omitted preferences return to their defaults.',
    scope: 'preferences:write',
    limit: 'write',
    body: PreferencesPut,
    example: { theme: 'dark', density: 'compact' },
    responses: { 200: Preferences },
    errors: ['forbidden'],
    write: (ctx, { body }) => putPreferences(ctx, body),
  }),
];
