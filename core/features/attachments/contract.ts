import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { actor, choice, json, number, string, text } from '../../kernel/contract/field.ts';
import { Closed, idOf, nullable } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';

const issueResponse = Closed({
  id: idOf(issue.id),
  identifier: nullable(
    Type.String({ description: 'Identifier of the issue, such as `ENG-7`; null until assigned.' }),
  ),
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
  doc: 'Link or file attached to an issue.',
  parent: issue,
  fields: {
    issue: json(issueResponse, {
      write: 'never',
      computed: true,
      doc: 'Issue that the attachment belongs to.',
    }),
    kind: choice(['link', 'file'], { write: 'never', default: 'link', doc: 'Type of the attachment.' }),
    title: text({ max: titleMax, required: true, doc: 'Title of the attachment; for a file, its name.' }),
    url: string(link, {
      required: true,
      nullable: true,
      write: 'create',
      doc: 'URL of the link; null for a file.',
    }),
    contentType: text({
      max: 127,
      nullable: true,
      write: 'never',
      doc: 'Media type that the file was uploaded with; null for a link.',
    }),
    bytes: number(
      { integer: true, minimum: 0 },
      { nullable: true, write: 'never', doc: 'Size of the file in bytes; null for a link.' },
    ),
    sha256: text({
      max: 64,
      nullable: true,
      write: 'never',
      doc: 'SHA-256 of the file content, in hexadecimal; null for a link.',
    }),
    creator: actor({ doc: 'Author of the attachment.' }),
  },
  undo: 'values',
  operations: {
    list: 'List the attachments of an issue, oldest first',
    create: 'Attach a link to an issue',
    get: 'Get an attachment',
    delete: {
      summary: 'Delete an attachment',
      description: 'Guests can delete only their own attachments.',
      errors: ['forbidden'],
    },
  },
  events: {},
  retainsDeleted: true,
  ofTeam: true,
  calls: ['list', 'create'],
  examples: { create: { title: 'Customer report', url: 'https://example.com/reports/7' } },
});
