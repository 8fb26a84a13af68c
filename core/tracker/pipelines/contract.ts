// Pipelines: the way that releases of one product take, stage by stage.
import { Type } from 'typebox';
import { defineContract } from '../../contract/contract.ts';
import { choice, json, referenceBy, text } from '../../contract/field.ts';
import { line } from '../../lib/schema.ts';
import { team } from '../teams/contract.ts';

export const stageMax = 40;
const stages = Type.Array(line(stageMax), {
  minItems: 1,
  maxItems: 20,
  uniqueItems: true,
  description: 'Up to 20, in their order.',
});

export const pipeline = defineContract({
  name: 'pipeline',
  path: 'pipelines',
  scope: 'releases',
  title: 'Pipeline',
  id: 'pip',
  names: { by: ['name'] },
  doc: 'The way that the releases of a product take, stage by stage.',
  fields: {
    name: text({ max: 120, required: true, filter: true, doc: 'What it is called.' }),
    type: choice(['continuous', 'scheduled'], {
      default: 'scheduled',
      filter: true,
      doc: 'Whether what is done goes out at once, or is gathered for a day.',
    }),
    stages: json(stages, {
      default: ['planned', 'in_progress', 'staging', 'released'],
      doc: 'What releases go through: they begin in the first, and are published into the last.',
    }),
    team: referenceBy(team, 'key', {
      nullable: true,
      filter: true,
      doc: 'The team that looks after it, by its key; null where none does.',
    }),
    repository: text({ max: 500, nullable: true, doc: 'Where the source of it lies: an address or a name.' }),
  },
  undo: 'values',
  operations: {
    list: 'List pipelines, oldest first',
    create: 'Create a pipeline',
    get: 'Get a pipeline',
    update: {
      summary: 'Change a pipeline',
      description: 'Releases in a stage that is taken away stay in it until they are moved.',
    },
    delete: { summary: 'Delete a pipeline without releases', errors: ['conflict'] },
  },
  events: { created: 'pipeline.created', updated: 'pipeline.updated', deleted: 'pipeline.deleted' },
  keepsDeleted: true,
  directory: { as: 'pipelines', keeps: ['name', 'stages'], withDeleted: true },
  calls: ['list'],
  examples: {
    create: { name: 'Editor', type: 'scheduled', stages: ['planned', 'staging', 'released'] },
    update: { stages: ['planned', 'in_progress', 'staging', 'released'] },
  },
});
