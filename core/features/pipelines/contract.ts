import { Type } from 'typebox';
import { defineContract } from '../../kernel/contract/contract.ts';
import { choice, json, referenceBy, text } from '../../kernel/contract/field.ts';
import { line } from '../../platform/lib/schema.ts';
import { team } from '../teams/contract.ts';

export const stageMax = 40;
const stages = Type.Array(line(stageMax), {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  description: 'Up to 20 stages, in order.',
});

export const pipeline = defineContract({
  name: 'pipeline',
  path: 'pipelines',
  scope: 'releases',
  title: 'Pipeline',
  id: 'pip',
  names: { by: ['name'] },
  doc: 'Stages that the releases of a product pass through.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'Name of the pipeline.' }),
    type: choice(['continuous', 'scheduled'], {
      default: 'scheduled',
      filter: true,
      doc: 'Release type: `continuous` publishes work when it is done, `scheduled` collects it for a date.',
    }),
    stages: json(stages, {
      default: ['planned', 'in_progress', 'staging', 'released'],
      doc: 'Stages of a release: it starts in the first, and is published into the last.',
    }),
    team: referenceBy(team, 'key', {
      nullable: true,
      filter: true,
      doc: 'Key of the responsible team; null if there is none.',
    }),
    repository: text({ max: 500, nullable: true, doc: 'Source repository: URL or name.' }),
  },
  undo: 'values',
  operations: {
    list: 'List pipelines, oldest first',
    create: 'Create a pipeline',
    get: 'Get a pipeline',
    update: {
      summary: 'Change a pipeline',
      description: 'Releases in a removed stage stay in it until they are moved.',
    },
    delete: { summary: 'Delete a pipeline without releases', errors: ['conflict'] },
  },
  events: { created: 'pipeline.created', updated: 'pipeline.updated', deleted: 'pipeline.deleted' },
  retainsDeleted: true,
  directory: { as: 'pipelines', entryFields: ['name', 'stages'], withDeleted: true },
  calls: ['list'],
  examples: {
    create: { name: 'Editor', type: 'scheduled', stages: ['planned', 'staging', 'released'] },
    update: { stages: ['planned', 'in_progress', 'staging', 'released'] },
  },
});
