// Routes of automations. `runtime` passes in the plugin runtime that they need.
import { Type, type TSchema } from 'typebox';
import type { Context } from '../../kernel/context.ts';
import { createBodyWith, schemasOf, updateBodyWith } from '../../kernel/contract/schemas.ts';
import { defineRoute, type Route } from '../../kernel/http/route.ts';
import { defineResource } from '../../kernel/resource/define.ts';
import { getEntity } from '../../kernel/changes/operations.ts';
import { Closed, idOf, line, namedSchema, nameOf } from '../../platform/lib/schema.ts';
import { issue } from '../issues/contract.ts';
import { readingIssues } from '../issues/index.ts';
import { automation, AutomationBacktest } from './contract.ts';
import { automationModel } from './model.ts';
import {
  createAutomation,
  deleteAutomation,
  disableAutomation,
  duplicateAutomation,
  enableAutomation,
  previewAutomation,
  requireOpening,
  requireOwner,
  updateAutomation,
  type AutomationInput,
  type AutomationPatch,
} from './operations.ts';
import { revisionRoutes } from './revisions.ts';
import type { RuleRuntime } from './runtime.ts';
import { suggestionRoute } from './suggestions.ts';
import { Templates, templatesForForms } from './templates.ts';

const probation = Type.Optional(
  Type.Boolean({
    description:
      'True to require approval of the writes until people have approved 20 runs; false to end that. Default true for a new automation.',
  }),
);
const AutomationCreate = namedSchema('AutomationCreate', createBodyWith(automation, { probation }));
const AutomationUpdate = namedSchema('AutomationUpdate', updateBodyWith(automation, { probation }));
const AutomationAnswer = schemasOf(automation).response;
const { trigger, conditions, issues, actions } = (
  AutomationCreate as object as { readonly properties: Readonly<Record<string, TSchema>> }
).properties;
type PreviewInput = Pick<AutomationInput, 'trigger' | 'conditions' | 'issues' | 'actions'> & {
  readonly days?: number;
};
const Preview = namedSchema(
  'AutomationPreview',
  Type.Unsafe<PreviewInput>(
    Closed({
      trigger: trigger!,
      conditions: conditions!,
      issues: issues!,
      actions: actions!,
      days: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 365, description: 'Length of the window in days; default 90.' }),
      ),
    }),
  ),
);
const Webhook = namedSchema(
  'AutomationWebhook',
  Closed({
    url: Type.String({ description: 'Address; anyone who knows it can send requests.' }),
    secret: Type.String({ description: 'Signing secret for senders. It is shown only once.' }),
  }),
);
const Enable = Closed({
  force: Type.Optional(Type.Boolean({ description: 'True to enable before the backtest has ended.' })),
});
const Duplicate = Closed({ name: Type.Optional(line(120, 'Name of the copy.')) });
const RunInput = Closed({
  issue: Type.Optional(
    Type.Unsafe<string>({
      ...nameOf(issue),
      description: 'Issue to run on; absent if the rule selects issues.',
    }),
  ),
});

const { name: _, ...previewExample } = automation.examples.create as object as PreviewInput & {
  readonly name: string;
};
const params = Closed({ id: idOf(automation.id) });
const write = { scope: 'automations:write', limit: 'write', params } as const;

export function automationRoutes(runtime: RuleRuntime): readonly Route[] {
  return defineResource(automation, automationModel, {
    operations: {
      delete: (ctx, id, ifMatch) => deleteAutomation(ctx, id, ifMatch, runtime),
    },
    routes: [
      templatesRoute,
      ...changingRoutes(runtime),
      ...stateRoutes(runtime),
      ...runRoutes(runtime),
      ...revisionRoutes(runtime, AutomationAnswer),
      ...webhookRoutes(runtime),
      suggestionRoute,
    ],
  }).routes;
}

const templatesRoute = defineRoute({
  method: 'GET',
  path: '/api/v1/automations/templates',
  name: 'automations.templates',
  summary: 'List templates of automations',
  description: 'Each has a rule with defaults, and the values to adapt to the workspace.',
  scope: 'automations:read',
  limit: 'read',
  responses: { 200: Templates },
  read: async () => ({ data: templatesForForms() }),
});

function changingRoutes(runtime: RuleRuntime): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/api/v1/automations',
      name: 'automations.create',
      summary: 'Create an automation, paused, and start its backtest',
      description:
        'The backtest reports what the automation would have done in the last 90 days. Enable the automation once it has ended.',
      scope: 'automations:write',
      limit: 'write',
      body: AutomationCreate,
      example: automation.examples.create as object as AutomationInput,
      errors: ['forbidden', 'conflict'],
      responses: { 201: AutomationAnswer },
      write: (ctx, { body }) => createAutomation(ctx, body as AutomationInput, runtime),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/v1/automations/preview',
      name: 'automations.preview',
      summary: 'Backtest a rule without storing it',
      description: 'Nothing is written or sent. Poll the backtest until it has ended.',
      scope: 'automations:write',
      limit: 'write',
      body: Preview,
      example: previewExample,
      errors: ['forbidden'],
      responses: { 202: AutomationBacktest },
      write: (ctx, { body }) => previewAutomation(ctx, { conditions: {}, issues: null, ...body }, runtime),
    }),
    defineRoute({
      ...write,
      method: 'PATCH',
      path: '/api/v1/automations/{id}',
      name: 'automations.update',
      summary: 'Change an automation',
      description:
        'A change of the rule starts a new revision with its own backtest. An enabled automation runs the new revision at once, on probation unless `probation` is given.',
      body: AutomationUpdate,
      example: automation.examples.update as AutomationPatch,
      errors: ['forbidden'],
      responses: { 200: AutomationAnswer },
      write: (ctx, { params: { id }, body, ifMatch }) =>
        updateAutomation(ctx, id, body as AutomationPatch, ifMatch, runtime),
    }),
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/duplicate',
      name: 'automations.duplicate',
      summary: 'Create a paused copy of an automation',
      body: Duplicate,
      example: { name: 'Triage urgent bugs of the web team' },
      errors: ['forbidden', 'conflict'],
      responses: { 201: AutomationAnswer },
      write: (ctx, { params: { id }, body }) => duplicateAutomation(ctx, id, body, runtime),
    }),
  ];
}

function stateRoutes(runtime: RuleRuntime): Route[] {
  return [
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/enable',
      name: 'automations.enable',
      summary: 'Enable an automation',
      description:
        'It runs on later events. Fails with 409 until the backtest has ended, unless `force` is true.',
      body: Enable,
      example: { force: true },
      errors: ['conflict', 'forbidden'],
      responses: { 200: AutomationAnswer },
      write: (ctx, { params: { id }, body, ifMatch }) => enableAutomation(ctx, id, body, ifMatch, runtime),
    }),
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/disable',
      name: 'automations.disable',
      summary: 'Pause an automation',
      description: 'Runs that have not started are canceled.',
      responses: { 200: AutomationAnswer },
      write: (ctx, { params: { id }, ifMatch }) => disableAutomation(ctx, id, ifMatch, runtime),
    }),
  ];
}

const find = (ctx: Context, id: string) => getEntity(ctx, automationModel, id);

function webhookRoutes(runtime: RuleRuntime): Route[] {
  return [
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/webhook',
      name: 'automations.open-webhook',
      summary: 'Open the address of an automation, or rotate its secret',
      description:
        'For automations with the trigger `webhook`. Opening it again keeps the address and replaces the secret at once.',
      errors: ['conflict', 'forbidden'],
      responses: { 200: Webhook },
      secret: true,
      write: async (ctx, { params: { id } }) => {
        const rule = await find(ctx, id);
        await requireOpening(ctx, rule, runtime);
        return runtime.openWebhook(ctx, rule);
      },
    }),
    defineRoute({
      ...write,
      method: 'DELETE',
      path: '/api/v1/automations/{id}/webhook',
      name: 'automations.close-webhook',
      summary: 'Close the address of an automation',
      responses: { 204: null },
      write: async (ctx, { params: { id }, ifMatch }) => {
        const rule = await find(ctx, id);
        await requireOwner(ctx, rule);
        return runtime.closeWebhook(ctx, rule, ifMatch);
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/api/v1/automations/{id}/health',
      name: 'automations.health',
      summary: 'Get the health of an automation',
      description:
        'Runs, failures, loops, overruled changes and conflicts of the last 30 days. A rule that never ran is judged by its backtest.',
      scope: 'automations:read',
      also: readingIssues,
      limit: 'read',
      params,
      responses: { 200: runtime.healthResponse },
      read: async (ctx, { params: { id } }) => runtime.health(ctx, await find(ctx, id)),
    }),
  ];
}

function runRoutes(runtime: RuleRuntime): Route[] {
  const { run } = runtime;
  return [
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/run',
      name: 'automations.run',
      summary: 'Run an automation now',
      description:
        'The run has the rights that the caller, the owner and the automation have in common. It tests the conditions, not the trigger. The request waits up to 5 seconds for the run.',
      body: RunInput,
      example: { issue: 'ENG-1' },
      errors: ['conflict', 'quota_exceeded'],
      responses: runtime.runResponses,
      write: async (ctx, { params: { id }, body }) => run(ctx, await find(ctx, id), body),
    }),
    defineRoute({
      ...write,
      method: 'POST',
      path: '/api/v1/automations/{id}/simulate',
      name: 'automations.simulate',
      summary: 'Show what an automation would do now',
      description:
        'Tests the conditions, not the trigger, with the rights that the caller, the owner and the automation have in common. Nothing is written or sent. Paused automations can be simulated, too.',
      body: RunInput,
      example: { issue: 'ENG-1' },
      errors: ['conflict', 'quota_exceeded'],
      responses: { 200: runtime.simulation },
      write: async (ctx, { params: { id }, body }) => runtime.simulate(ctx, await find(ctx, id), body),
    }),
  ];
}
