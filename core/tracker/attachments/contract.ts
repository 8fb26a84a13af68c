// Attachments: links on issues, and files.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { actor, choice, json, number, string, text } from '../../contract/field.ts';
import { Closed, idOf, nullable } from '../../lib/schema.ts';
import { issue } from '../issues/contract.ts';

const issueShown = Closed({
  id: idOf(issue.id),
  identifier: nullable(Type.String({ description: 'How people name the issue.' })),
});
const link = Type.String({
  maxLength: 2_000,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$',
  description: 'A URL that begins with https:// or http://.',
});
export const titleMax = 255;

export const attachment = defineContract({
  name: 'attachment',
  path: 'attachments',
  title: 'Attachment',
  id: 'att',
  doc: 'A link on an issue, or a file.',
  parent: issue,
  fields: {
    issue: json(issueShown, { write: 'never', computed: true, doc: 'The issue that it belongs to.' }),
    kind: choice(['link', 'file'], { write: 'never', default: 'link', doc: 'What it is.' }),
    title: text({ max: titleMax, required: true, doc: 'What people read; of a file, its name.' }),
    url: string(link, {
      required: true,
      nullable: true,
      write: 'create',
      doc: 'Where a link leads; null for a file.',
    }),
    contentType: text({
      max: 127,
      nullable: true,
      write: 'never',
      doc: 'The media type that a file was sent with; null for a link.',
    }),
    bytes: number(
      { integer: true, minimum: 0 },
      { nullable: true, write: 'never', doc: 'The length of a file; null for a link.' },
    ),
    sha256: text({
      max: 64,
      nullable: true,
      write: 'never',
      doc: 'Of the content of a file, in hexadecimal; null for a link.',
    }),
    creator: actor({ doc: 'Who attached it.' }),
  },
  undo: 'values',
  operations: {
    list: 'List the attachments of an issue, oldest first',
    create: 'Attach a link to an issue',
    get: 'Get an attachment',
    delete: 'Delete an attachment',
  },
  events: {},
  keepsDeleted: true,
  ofTeam: true,
  calls: ['list', 'create'],
  examples: { create: { title: 'Customer report', url: 'https://example.com/reports/7' } },
});
