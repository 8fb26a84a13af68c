// Projects: work with a goal and a date, across teams.
import { Type, type Static } from 'typebox';
import type { Entity } from '../../changes/change.ts';
import { defineKind } from '../../changes/kind.ts';
import { isoTime } from '../../changes/operations.ts';
import { Closed, date, id, named, nullable, text, time, version } from '../../lib/schema.ts';

export const projectStatuses = ['backlog', 'planned', 'started', 'paused', 'completed', 'canceled'] as const;
const projectHealths = ['on_track', 'at_risk', 'off_track'] as const;
const description = Type.String({ maxLength: 65536, description: 'Markdown.' });
const writable = {
  description: Type.Optional(description),
  status: Type.Optional(Type.Enum([...projectStatuses])),
  health: Type.Optional(nullable(Type.Enum([...projectHealths]))),
  leadId: Type.Optional(nullable(id('member'))),
  startDate: Type.Optional(nullable(date)),
  targetDate: Type.Optional(nullable(date)),
};

export const ProjectShown = named(
  'Project',
  Closed({
    id: id('project'),
    name: Type.String(),
    description,
    status: Type.Enum([...projectStatuses]),
    health: nullable(Type.Enum([...projectHealths])),
    lead: nullable(Closed({ id: id('member'), name: Type.String() })),
    startDate: nullable(date),
    targetDate: nullable(date),
    version,
    createdAt: time,
    updatedAt: time,
  }),
);
export const ProjectCreate = Closed({ name: text(120), ...writable });
export const ProjectUpdate = Closed({ name: Type.Optional(text(120)), ...writable });

export interface Project extends Entity {
  readonly name: string;
  readonly description: string;
  readonly status: (typeof projectStatuses)[number];
  readonly health: (typeof projectHealths)[number] | null;
  readonly leadId: string | null;
  readonly startDate: string | null;
  readonly targetDate: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export const projectKind = defineKind<Project, Static<typeof ProjectShown>>({
  name: 'project',
  table: 'projects',
  fields: {
    name: 'name',
    description: 'description',
    status: 'status',
    health: 'health',
    leadId: 'lead_id',
    startDate: 'start_date',
    targetDate: 'target_date',
    createdAt: 'created_at',
    updatedAt: 'updated_at',
  },
  wire: (project, { directory }) => ({
    id: project.id,
    name: project.name,
    description: project.description,
    status: project.status,
    health: project.health,
    lead:
      project.leadId === null
        ? null
        : { id: project.leadId, name: directory.members.get(project.leadId)?.name ?? '' },
    startDate: project.startDate,
    targetDate: project.targetDate,
    version: project.version,
    createdAt: isoTime(project.createdAt),
    updatedAt: isoTime(project.updatedAt),
  }),
  events: (before) => (before ? ['project.updated'] : ['project.created']),
});
