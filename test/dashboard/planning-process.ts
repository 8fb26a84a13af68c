// Does the planning work of a person at one screen, by keyboard, and checks each dialog. Prints what happened. Further
// arguments: the screen, and a folder for pictures of the dialogs.
import { say } from './browser.ts';
import { boardSteps } from './planning/boards.ts';
import { cycleSteps } from './planning/cycles.ts';
import { projectSteps } from './planning/projects.ts';
import { releaseSteps } from './planning/releases.ts';
import { slaSteps } from './planning/sla.ts';
import { templateSteps } from './planning/templates.ts';
import { triageSteps } from './planning/triage.ts';
import { visit, type Visit } from './planning/visit.ts';

const screens: Readonly<Record<string, (visit: Visit) => Promise<object>>> = {
  triage: triageSteps,
  boards: boardSteps,
  cycles: cycleSteps,
  projects: projectSteps,
  releases: releaseSteps,
  sla: slaSteps,
  templates: templateSteps,
};

const [, , , screen = '', shots] = process.argv;
const visitor = await visit(shots);
const done = await screens[screen]!(visitor);
await visitor.end();
say({ done, problems: visitor.problems });
