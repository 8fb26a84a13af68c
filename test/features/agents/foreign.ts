// Every tool and resource responds to a hidden object as to a missing one.
import { expect } from 'bun:test';
import type { Json } from '../../app.ts';
import type { Agent } from './agents.ts';

/** Calls of each tool that are valid except for their ids. @param ids ids of a workspace */
function callsWith(ids: Json): readonly (readonly [tool: string, args: object])[] {
  return [
    ['issues_get', { id: ids.issue }],
    ['issues_get', { id: ids.identifier }],
    ['issues_update', { id: ids.issue, title: 'x' }],
    ['issues_update', { id: ids.issue, state: 'Done' }],
    ['issues_update', { ids: [ids.issue, ids.issue2], title: 'x' }],
    ['issues_delete', { id: ids.issue }],
    ['issues_create', { team: ids.team, title: 'x' }],
    ['issues_create', { team: ids.team, title: 'x', state: 'Done' }],
    ['issues_search', { team: ids.team }],
    ['issues_search', { q: ids.words }],
    ['comments_add', { id: ids.issue, body: 'x' }],
    ['boards_get', { id: ids.board }],
    ['cycles_get', { id: ids.cycle }],
    ['cycles_get', { team: ids.team }],
    ['plugins_backtest', { id: ids.plugin }],
    ['plugins_backtest', { backtest: ids.backtest }],
    ['proposals_get', { id: ids.proposal }],
  ];
}

/** Removes the requested id from a response, which may repeat it. */
const neutral = (answer: Json, ids: Json): string => {
  let text = JSON.stringify({ ...answer, requestId: undefined });
  for (const [name, id] of Object.entries<string>(ids)) text = text.replaceAll(id, `<${name}>`);
  return text;
};

/**
 * @param real ids of existing hidden objects
 * @param except tools that reject existing objects with an error of their own
 */
export async function expectAsNowhere(stranger: Agent, real: Json): Promise<void> {
  const swapped = (id: string): string => id.slice(0, -4) + 'zzzz';
  const nowhere: Json = {
    ...Object.fromEntries(
      Object.entries<string>(real).map(([name, id]) => [name, id.includes('_') ? swapped(id) : id]),
    ),
    ...{ identifier: 'NOP-77', team: 'NOP', words: 'pomegranate' },
  };
  const missing = callsWith(nowhere);
  for (const [at, [tool, args]] of callsWith(real).entries()) {
    const [seen, unseen] = [await stranger.call(tool, args), await stranger.call(tool, missing[at]![1])];
    expect([tool, neutral(seen, real)]).toEqual([tool, neutral(unseen, nowhere)]);
  }
  for (const uri of ['issues/issue', 'issues/identifier', 'boards/board', 'projects/project']) {
    const [type, name] = uri.split('/') as [string, string];
    const read = (ids: Json): Promise<Json> =>
      stranger.client.readResource({ uri: `tatami://${type}/${ids[name]}` }).then(
        () => 'read',
        ({ code, message }: Json) => neutral({ code, message }, ids),
      );
    expect(await read(real)).toBe(await read(nowhere));
  }
}
