// Tools for automations. A change of an automation always becomes a proposal, because it outlives the grant of
// the agent.
import { Type } from 'typebox';
import { invalidField } from '../../../platform/lib/errors/errors.ts';
import { Closed } from '../../../platform/lib/schema.ts';
import type { Answered } from '../agent.ts';
import {
  guardedWrite,
  idempotencyKey,
  keyOf,
  pickArguments,
  proposedOutput,
  responseFieldsOf,
  some,
  waitInput,
  type RouteOf,
  type Tool,
} from './tool.ts';

const parts = ['trigger', 'conditions', 'issues', 'actions'];
const changeable = ['name', 'description', ...parts, 'mode'];

export function automationTools(routeOf: RouteOf, baseUrl: string): Tool[] {
  return [list(routeOf), propose(routeOf, baseUrl), preview(routeOf)];
}

function list(routeOf: RouteOf): Tool {
  const route = routeOf('automations.list');
  return {
    name: 'automations_list',
    title: 'List automations',
    description:
      'Lists the automations of the workspace with their trigger, conditions, actions, mode and state. Use it before you propose one, to find one that does the same.',
    isRead: true,
    isDestructive: false,
    isIdempotent: true,
    operations: ['automations.list'],
    input: Closed(some(route.query, ['state', 'after'])),
    output: Closed(responseFieldsOf(route)),
    call: async ({ agent, args }) =>
      (await agent.ask('automations.list', { query: pickArguments(args, ['state', 'after']) })).json,
  };
}

function propose(routeOf: RouteOf, baseUrl: string): Tool {
  const { body } = routeOf('automations.update');
  const response = routeOf('automations.update').responses[200]!;
  return {
    name: 'automations_propose',
    title: 'Propose an automation',
    description:
      'Proposes a new automation, or with `id` a change of one. A person approves it, and enables a new one; show the person the `url`. Try the rule with automations_preview first. Shapes of the parts: /docs/automations/reference.',
    isRead: false,
    isDestructive: true,
    isIdempotent: false,
    operations: ['automations.update'],
    input: Closed({
      id: Type.Optional(routeOf('automations.update').params!.properties.id!),
      ...some(body, changeable),
      ...waitInput,
      ...idempotencyKey,
    }),
    output: Closed({ ...proposedOutput, automation: Type.Optional(response) }),
    call(request) {
      const { agent, args } = request;
      const sent = { body: pickArguments(args, changeable), ...keyOf(args) };
      const write = (): Promise<Answered> =>
        args.id === undefined
          ? agent.ask('automations.create', sent)
          : agent.ask('automations.update', { params: { id: String(args.id) }, ...sent });
      return guardedWrite(request, baseUrl, write, (automation) => ({ automation }));
    },
  };
}

function preview(routeOf: RouteOf): Tool {
  const { body } = routeOf('automations.preview');
  const report = routeOf('plugins.backtest');
  return {
    name: 'automations_preview',
    title: 'Preview an automation',
    description:
      'Reports what a rule would have changed in the last 90 days, compared with what people did. Nothing is written. A preview takes a while: call the tool again with the `backtest` id of the result until its status is `done`.',
    isRead: false,
    isDestructive: false,
    isIdempotent: false,
    operations: ['automations.preview', 'backtests.get'],
    input: Closed({
      ...some(body, [...parts, 'days']),
      backtest: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Id of a running or finished preview, instead of the other arguments.',
        }),
      ),
      ...idempotencyKey,
    }),
    output: Closed(responseFieldsOf(report)),
    async call({ agent, args }) {
      if ((args.trigger === undefined) === (args.backtest === undefined))
        throw invalidField('trigger', 'required', 'Give either a rule or the id of a `backtest`.');
      const started =
        args.backtest ??
        (
          await agent.ask('automations.preview', {
            body: pickArguments(args, [...parts, 'days']),
            ...keyOf(args),
          })
        ).json.id;
      return (await agent.ask('backtests.get', { params: { id: String(started) } })).json;
    },
  };
}
