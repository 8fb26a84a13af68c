// Favorites, and the values of preferences. Both share one namespace of events and one scope.
import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, number, reference, string } from '../../kernel/contract/field.ts';
import { member } from '../people/contract.ts';

export const themes = ['system', 'light', 'dark'] as const;
export const densities = ['comfortable', 'compact'] as const;
export const startPages = [
  'my_issues',
  'inbox',
  'triage',
  'issues',
  'boards',
  'cycles',
  'projects',
  'releases',
] as const;

export const favoriteTypes = ['issue', 'view', 'board', 'project', 'cycle', 'release'] as const;
export const favoritesMax = 100;
export const positionMax = 1_000_000;

const shownOnly = { nullable: true, write: 'never', computed: true, unlogged: true, filter: false } as const;

export const favorite = defineContract({
  name: 'favorite',
  path: 'favorites',
  scope: 'preferences',
  roles: { member: 'write', guest: 'write', app: 'write' },
  title: 'Favorite',
  id: 'fav',
  doc: 'Link of a member to an object. Visible to that member only.',
  fields: {
    member: reference(member, { write: 'never', doc: 'Member whose favorite it is.' }),
    type: choice(favoriteTypes, {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Type of the object.',
    }),
    targetId: string(Type.String({ minLength: 1, maxLength: 40 }), {
      required: true,
      write: 'create',
      doc: 'Id of the object. Requests also accept the identifier of an issue, such as `ENG-42`.',
    }),
    title: string(Type.String(), {
      ...shownOnly,
      doc: 'Title of the issue, or name of the object; null if it was deleted or is not visible to the caller, and in events.',
    }),
    identifier: string(Type.String(), {
      ...shownOnly,
      doc: 'Identifier of the issue, such as `ENG-42`; null for other objects, and if `title` is null.',
    }),
    url: string(Type.String({ format: 'uri' }), {
      ...shownOnly,
      doc: 'URL of the page of the object; null if `title` is null.',
    }),
    position: number(
      { minimum: -positionMax, maximum: positionMax },
      {
        default: 0,
        doc: 'Position among the favorites of the member; a number between those of two others places it between them. Default: last.',
      },
    ),
  },
  subscriptionScope: 'inboxes:read',
  undo: 'values',
  operations: {
    list: { summary: 'List your favorites, in order', errors: ['forbidden'] },
    create: 'Add a favorite',
    get: { summary: 'Get a favorite', errors: ['forbidden'] },
    update: { summary: 'Move a favorite among the others', errors: ['forbidden'] },
    delete: { summary: 'Remove a favorite', errors: ['forbidden'] },
  },
  order: ['position'],
  events: {
    created: 'preferences.favorite_added',
    updated: 'preferences.favorite_moved',
    deleted: 'preferences.favorite_removed',
  },
  retainsDeleted: true,
  examples: {
    create: { type: 'issue', targetId: 'ENG-42' },
    update: { position: 1.5 },
  },
});
