// Releases: what goes out of a pipeline under one version, with the issues that are in it and the notes that tell of them.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, day, json, markdown, reference, text, time } from '../../contract/field.ts';
import { idOf } from '../../lib/schema.ts';
import { pipeline, stageMax } from '../pipelines/contract.ts';

export const releaseIssuesMax = 500;
export const notesBytesMax = 256 * 1024;

export const release = defineContract({
  name: 'release',
  path: 'releases',
  title: 'Release',
  id: 'rel',
  doc: 'What goes out of a pipeline under one version.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'What it is called.' }),
    tag: text({
      max: 80,
      required: true,
      filter: true,
      doc: 'The version that people know it by, such as 2.5.0; each once in a pipeline.',
    }),
    pipeline: reference(pipeline, {
      required: true,
      write: 'create',
      filter: true,
      doc: 'The pipeline that it goes through.',
    }),
    stage: text({
      max: stageMax,
      write: 'never',
      filter: true,
      doc: 'The stage of the pipeline that it is in.',
    }),
    status: choice(['planned', 'in_progress', 'published', 'rolled_back'], {
      default: 'planned',
      write: 'never',
      filter: true,
      sort: true,
      doc: 'Planned in the first stage, in progress beyond it; then whether it was published, and taken back.',
    }),
    targetDate: day({
      nullable: true,
      filter: true,
      sort: true,
      doc: 'The day on which it is to be published.',
    }),
    notes: markdown({ bytesMax: notesBytesMax, default: '', doc: 'What is new in it.' }),
    issueIds: json(Type.Array(idOf('iss'), { maxItems: releaseIssuesMax }), {
      default: [],
      write: 'never',
      doc: 'The issues that are in it, in the order in which they were added; fixed once it is published.',
    }),
    publishedAt: time({ nullable: true, write: 'never', sort: true, doc: 'When it was published.' }),
    rolledBackAt: time({ nullable: true, write: 'never', doc: 'When it was taken back.' }),
    rollbackReason: text({ max: 2_000, nullable: true, write: 'never', doc: 'Why it was taken back.' }),
  },
  undo: 'values',
  operations: {
    list: 'List releases, newest first',
    create: 'Plan a release',
    get: 'Get a release',
    update: {
      summary: 'Change a release',
      description: 'Once it is published only its notes can be changed.',
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
  keepsDeleted: true,
  calls: ['get', 'list', 'create', 'update', 'publish'],
  examples: {
    create: {
      name: 'Spring',
      tag: '2.5.0',
      pipelineId: 'pip_01m7wd7tg0000sampe00000001',
      targetDate: '2027-03-01',
    },
    update: { notes: 'Saving tells when the disk is full.' },
  },
});
