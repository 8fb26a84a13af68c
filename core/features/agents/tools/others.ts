// Tools for comments, boards, cycles, plugins and proposals.
import { Type } from 'typebox';
import { ApiError, invalidField } from '../../../platform/lib/errors/errors.ts';
import { Closed, nameOf } from '../../../platform/lib/schema.ts';
import { cycle } from '../../cycles/contract.ts';
import { issue } from '../../issues/contract.ts';
import { teamKey } from '../../teams/contract.ts';
import type { Agent, Json } from '../agent.ts';
import {
  decisionWithin,
  secondsOf,
  urlOfProposal,
  waitInput,
  pickArguments,
  idempotencyKey,
  keyOf,
  one,
  responseFieldsOf,
  some,
  type RouteOf,
  type Tool,
} from './tool.ts';

const reading = { isRead: true, isDestructive: false, isIdempotent: true } as const;

export function otherTools(routeOf: RouteOf, baseUrl: string): Tool[] {
  return [
    comment(routeOf),
    getBoard(routeOf),
    getCycle(routeOf),
    backtest(routeOf),
    getProposal(routeOf, baseUrl),
  ];
}

function comment(routeOf: RouteOf): Tool {
  const route = routeOf('comments.create');
  const { body } = route;
  return {
    name: 'comments_add',
    title: 'Comment on an issue',
    description:
      'Adds a comment in Markdown to an issue; `@name` mentions and notifies a member. Set `parentId` to the first comment of a thread to reply. Use it to report findings or work and to ask questions; to change the issue itself use issues_update.',
    isRead: false,
    isDestructive: false,
    isIdempotent: false,
    operations: ['comments.create'],
    input: Closed({
      id: nameOf(issue),
      ...some(body, ['parentId']),
      body: one(body, 'body'),
      ...idempotencyKey,
    }),
    output: Closed(responseFieldsOf(route)),
    async call({ agent, args }) {
      const said = pickArguments(args, ['body', 'parentId']);
      return (
        await agent.ask('comments.create', { params: { id: String(args.id) }, body: said, ...keyOf(args) })
      ).json;
    },
  };
}

function getBoard(routeOf: RouteOf): Tool {
  const { params, query } = routeOf('boards.cards');
  return {
    ...reading,
    name: 'boards_get',
    title: 'Get a board',
    description:
      'Gets the columns of a board from left to right, each with its number of cards and the first cards. Use it to see the progress of work. Boards are listed as resources, `tatami://boards/{id}`.',
    operations: ['boards.cards', 'issues.list'],
    input: Closed({ ...params!.properties, ...some(query, ['perColumn']) }),
    output: Closed(responseFieldsOf(routeOf('boards.cards'))),
    async call({ agent, args }) {
      const query = { perColumn: 10, ...pickArguments(args, ['perColumn']) };
      return (await agent.ask('boards.cards', { params: { id: String(args.id) }, query })).json;
    },
  };
}

function getCycle(routeOf: RouteOf): Tool {
  return {
    ...reading,
    name: 'cycles_get',
    title: 'Get a cycle',
    description:
      'Gets a cycle of a team with its daily progress. Give the `id`, or a `team` for its active cycle, or for the next cycle if none is active. Get its issues with issues_search and `cycle`.',
    operations: ['cycles.get', 'issues.list'],
    input: Closed({
      id: Type.Optional(nameOf(cycle)),
      team: Type.Optional(Type.String({ ...teamKey, description: 'Key of the team, instead of `id`.' })),
    }),
    output: Closed({
      cycle: routeOf('cycles.get').responses[200]!,
      progress: routeOf('cycles.progress').responses[200]!,
    }),
    async call({ agent, args }) {
      const id = await cycleMeant(agent, args);
      const found = await agent.ask('cycles.get', { params: { id } });
      const progress = await agent.ask('cycles.progress', { params: { id } });
      return { cycle: found.json, progress: progress.json };
    },
  };
}

async function cycleMeant(agent: Agent, { id, team }: Json): Promise<string> {
  if ((id === undefined) === (team === undefined))
    throw invalidField('id', 'required', 'Give either the `id` of a cycle or the key of a `team`.');
  if (id !== undefined) return String(id);
  for (const status of ['active', 'upcoming']) {
    const { json } = await agent.ask('cycles.list', { query: { team, status, limit: 1 } });
    const [found] = json.data as { id: string }[];
    if (found) return found.id;
  }
  throw new ApiError(
    'not_found',
    `The team ${String(team)} has no active or upcoming cycle. Create a cycle first.`,
  );
}

const tried = ['since', 'until', 'events', 'settings'];

function backtest(routeOf: RouteOf): Tool {
  const route = routeOf('plugins.backtest');
  const { params, body } = route;
  return {
    name: 'plugins_backtest',
    title: 'Backtest a plugin',
    description:
      'Runs an installed plugin on recorded events without side effects, and reports the changes it would have made. Use it before somebody changes the settings of a plugin. A backtest takes a while: call the tool again with the `backtest` id of the result to get its progress.',
    isRead: false,
    isDestructive: false,
    isIdempotent: false,
    operations: ['plugins.backtest'],
    input: Closed({
      id: Type.Optional(params!.properties.id!),
      backtest: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Id of a running or finished backtest, instead of the other arguments.',
        }),
      ),
      ...some(body, tried),
      ...idempotencyKey,
    }),
    output: Closed(responseFieldsOf(route)),
    async call({ agent, args }) {
      if ((args.id === undefined) === (args.backtest === undefined))
        throw invalidField('id', 'required', 'Give either the `id` of a plugin or the id of a `backtest`.');
      if (args.backtest !== undefined)
        return (await agent.ask('backtests.get', { params: { id: String(args.backtest) } })).json;
      const request = { params: { id: String(args.id) }, body: pickArguments(args, tried), ...keyOf(args) };
      return (await agent.ask('plugins.backtest', request)).json;
    },
  };
}

function getProposal(routeOf: RouteOf, baseUrl: string): Tool {
  const route = routeOf('proposals.get');
  return {
    ...reading,
    name: 'proposals_get',
    title: 'Get a proposal',
    description:
      'Gets a proposal with its changes and the decision, if a person has approved or rejected it. Use it with the `proposalId` of an earlier result; with `wait` it returns as soon as somebody decides.',
    operations: ['proposals.get'],
    input: Closed({ ...route.params!.properties, ...waitInput }),
    output: Closed({
      proposal: route.responses[200]!,
      url: Type.String({ description: 'Page of the proposal.' }),
    }),
    async call({ agent, args, decisions }) {
      const id = String(args.id);
      const since = decisions.since(agent.principal.scope.workspaceId);
      const read = async () => (await agent.ask('proposals.get', { params: { id } })).json;
      const now = await read();
      const ms = secondsOf(args) * 1000;
      const isOver = now.status !== 'open' || ms === 0;
      if (!isOver) await decisionWithin({ agent, decisions }, id, since, ms);
      return { proposal: isOver ? now : await read(), url: urlOfProposal(baseUrl, id) };
    },
  };
}
