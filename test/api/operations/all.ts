// Operations of the tracker beyond its plain resources, one file for each part, performed by `everyOperation`.
import type { Json, TestApp } from '../../app.ts';
import type { Did } from '../every-operation.ts';
import { automationOperations } from './automations.ts';
import { boardOperations } from './boards.ts';
import { cycleOperations } from './cycles.ts';
import { oauthOperations } from './oauth.ts';
import { projectOperations } from './projects.ts';
import { proposalOperations } from './proposals.ts';
import { releaseOperations } from './releases.ts';
import { relationOperations } from './relations.ts';
import { slaOperations } from './sla.ts';
import { searchOperations } from './search.ts';
import { attachments } from './attachments.ts';
import { inboxOperations } from './inbox.ts';
import { preferencesOperations } from './preferences.ts';

/** Existing objects for the steps to use, which no step deletes. */
export interface Setting {
  readonly app: TestApp;
  readonly did: Did;
  /** Response of the creation of team DOC. */
  readonly team: Json;
  readonly issue: Json;
  readonly parent: Json;
  readonly member: Json;
  readonly project: Json;
}

type Steps = (setting: Setting) => Promise<void>;

export const furtherOperations: readonly Steps[] = [
  attachments,
  automationOperations,
  boardOperations,
  cycleOperations,
  inboxOperations,
  oauthOperations,
  preferencesOperations,
  projectOperations,
  proposalOperations,
  relationOperations,
  releaseOperations,
  searchOperations,
  slaOperations,
];
