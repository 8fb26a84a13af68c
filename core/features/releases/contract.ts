import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, day, json, markdown, reference, text, time, pageUrl } from '../../kernel/contract/field.ts';
import { idOf } from '../../platform/lib/schema.ts';
import { pipeline, stageMax } from '../pipelines/contract.ts';

export const releaseIssuesMax = 500;
export const notesBytesMax = 256 * 1024;

export const release = defineContract({
  name: 'release',
  path: 'releases',
  title: 'Release',
  id: 'rel',
  doc: 'Version of a product that a pipeline publishes.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'Name of the release.' }),
    tag: text({
      max: 80,
      required: true,
      filter: true,
      doc: 'Version tag such as 2.5.0; unique within the pipeline.',
    }),
    pipeline: reference(pipeline, {
      required: true,
      write: 'create',
      filter: true,
      doc: 'Pipeline of the release.',
    }),
    stage: text({
      max: stageMax,
      write: 'never',
      filter: true,
      doc: 'Current stage in the pipeline.',
    }),
    status: choice(['planned', 'in_progress', 'published', 'rolled_back'], {
      default: 'planned',
      write: 'never',
      filter: true,
      sort: true,
      doc: 'Status of the release: `planned` in the first stage, `in_progress` in later ones, then `published`, and `rolled_back` after a rollback.',
    }),
    targetDate: day({
      nullable: true,
      filter: true,
      sort: true,
      doc: 'Planned date of publication.',
    }),
    notes: markdown({ bytesMax: notesBytesMax, default: '', doc: 'Release notes.' }),
    issueIds: json(Type.Array(idOf('iss'), { maxItems: releaseIssuesMax }), {
      default: [],
      write: 'never',
      doc: 'Issues of the release, in the order in which they were added; fixed once published.',
    }),
    publishedAt: time({
      nullable: true,
      write: 'never',
      sort: true,
      doc: 'Time of publication; null until then.',
    }),
    rolledBackAt: time({ nullable: true, write: 'never', doc: 'Time of the rollback; null if none.' }),
    rollbackReason: text({
      max: 2_000,
      nullable: true,
      write: 'never',
      doc: 'Reason for the rollback; null if none.',
    }),
    url: pageUrl('release'),
  },
  undo: 'values',
  operations: {
    list: 'List releases, newest first',
    create: 'Create a release',
    get: 'Get a release',
    update: {
      summary: 'Change a release',
      description: 'Once a release is published, only its notes can be changed.',
      errors: ['conflict'],
    },
    delete: { summary: 'Delete a release that was not published', errors: ['conflict'] },
  },
  order: 'newest',
  events: {
    created: 'release.created',
    updated: 'release.updated',
    deleted: 'release.deleted',
    other: ['release.published', 'release.rolled_back'],
  },
  retainsDeleted: true,
  calls: ['get', 'list', 'create', 'update', 'publish', 'issues.add', 'issues.remove'],
  examples: {
    create: {
      name: 'Spring',
      tag: '2.5.0',
      pipelineId: 'pip_01m7wd7tg0000sampe00000001',
      targetDate: '2027-03-01',
    },
    update: { notes: 'Saving reports a full disk.' },
  },
});
