// Errors of the derived commands name the flag, and say how to correct it.
import { describe, expect, test } from 'bun:test';
import { tatami } from '../tatami.ts';
import { useCommands } from './commands.ts';

const { app, post, unchanged } = useCommands();

/** Arguments, exit code, code of the error, and parts of its message. */
type Wrong = readonly [args: string[], code: number, error: string, said: readonly string[]];

const wrong: readonly Wrong[] = [
  [['issues', 'create', '--team', 'ENG'], 2, 'usage', ['--title is required']],
  [['project-updates', 'create', 'Spring release'], 2, 'usage', ['--health, --body are required']],
  [
    ['issues', 'create', '--team', 'ENG', '--title', 'x', '--priority', 'hgih'],
    2,
    'usage',
    ['--priority must be one of none, low, medium, high, urgent, not "hgih". Did you mean high?'],
  ],
  [
    ['issues', 'update', 'ENG-1', '--estimate', 'much'],
    2,
    'usage',
    ['--estimate must be a number, not "much".'],
  ],
  [
    ['issues', 'update', 'ENG-1', '--description', '@none.md'],
    2,
    'usage',
    ['--description', 'none.md', '@@'],
  ],
  [['issues', 'update', 'ENG-1', '--field', 'severity'], 2, 'usage', ['--field must be name=value']],
  [
    ['issues', 'update', 'ENG-1', '--title', '-', '--description', '-'],
    2,
    'usage',
    ['Standard input can be read only once, not by --title and --description.'],
  ],
  [['deliveries', 'list', '--webhook', 'https://none.example/'], 1, 'not_found', ['There is no webhook']],
  [['boards', 'create', '--name', 'x', '--columns', '[{'], 2, 'usage', ['--columns is not JSON']],
  [['issues', 'list', '--limit', '0'], 2, 'usage', ['--limit']],
  [['issues', 'list', '--limit', '5', '--all'], 2, 'usage', ['--all', '--limit']],
  [['issues', 'list', '--sort', 'colour'], 2, 'validation_failed', ['--sort: ']],
  [['issues', 'list', '--filter', '{"colour":"red"}'], 2, 'validation_failed', ['--filter', 'colour']],
  [['issues', 'list', '--after', 'nowhere'], 2, 'invalid_cursor', []],
  [
    ['issues', 'update', 'ENG-1', '--due-date', 'tomorrow'],
    2,
    'validation_failed',
    ['--due-date: ', 'YYYY-MM-DD'],
  ],
  [
    ['boards', 'create', '--name', 'x', '--columns', '[{"value":1}]'],
    2,
    'validation_failed',
    ['--columns, at 0.value: '],
  ],
  [
    ['issues', 'update', 'ENG-1', '--assignee', 'anna'],
    2,
    'validation_failed',
    ['--assignee: ', 'Did you mean Ana?'],
  ],
  [
    ['issues', 'update', 'ENG-1', '--state', 'Tood'],
    2,
    'validation_failed',
    ['--state: ', 'Did you mean Todo?'],
  ],
  [
    ['issues', 'create', '--team', 'ENGG', '--title', 'x'],
    2,
    'validation_failed',
    ['--team: ', 'Did you mean ENG?'],
  ],
  [
    ['labels', 'show', 'bgu'],
    1,
    'not_found',
    ['There is no label bgu. Did you mean bug?', '`tatami labels list`'],
  ],
  [['issues', 'show', 'ENG-999'], 1, 'not_found', ['There is no issue ENG-999.', 'tatami issues list']],
  [['comments', 'list', 'ENG-999'], 1, 'not_found', ['There is no issue ENG-999.']],
  [
    ['teams', 'show', 'ENGG'],
    1,
    'not_found',
    ['There is no team ENGG.', 'Did you mean ENG?', 'tatami teams list'],
  ],
  [['milestones', 'list', 'Sprung release'], 1, 'not_found', ['project Sprung release', 'Spring release']],
  // Paths would lose these segments, and lead to another operation.
  [['issues', 'show', ''], 2, 'usage', ['The argument for the issue must not be empty.']],
  [['issues', 'external', 'show', '..', 'ENG-1'], 2, 'usage', ['The argument for the source must not be ..']],
  [['plugins', 'secrets', 'delete', 'triage', '..', '--yes'], 2, 'usage', ['must not be ..']],
  [
    ['issues', 'update', 'ENG-1', '--labels', '-', '--labels', '-'],
    2,
    'usage',
    ['Standard input can be read only once, not by --labels and --labels.'],
  ],
  [['issues', 'frob'], 2, 'usage', ["unknown command 'frob'"]],
  [['issues', 'list', '--frob'], 2, 'usage', ["unknown option '--frob'"]],
  [['issues', 'show'], 2, 'usage', ["missing required argument 'issue'"]],
];

describe('errors', () => {
  test.each(wrong.map((one) => [one[0].join(' '), one] as const))(
    '`%s` fails with its exit code and names the flag or the object',
    async (_, [args, exitCode, errorCode, said]) => {
      const { code, json, err } = await unchanged(args);
      expect([code, json]).toEqual([exitCode, { error: { code: errorCode, message: expect.any(String) } }]);
      for (const part of said)
        expect([json.error.message, err]).toEqual([
          expect.stringContaining(part),
          expect.stringContaining(part),
        ]);
    },
  );

  test('a name of several objects is refused with their ids', async () => {
    const policy = { name: 'Fast', filter: { priority: 'urgent' }, targetMinutes: 60 };
    const twins = [await post('/sla-policies', policy), await post('/sla-policies', policy)];
    const { code, json } = await unchanged(['sla-policies', 'show', 'fast']);
    expect([code, json.error.message]).toEqual([
      1,
      `Several sla policies have the name fast: ${twins.map(({ id }) => id).join(', ')}. Use the id of one.`,
    ]);
  });

  test('a command without a key exits with 4, and one without a server with 75', async () => {
    const list = ['labels', 'list', '--json', '--server'];
    const none = await tatami([...list, app().url]);
    expect([none.code, none.json.error.code]).toEqual([4, 'unauthorized']);
    const wrongKey = await tatami([...list, app().url], { TATAMI_TOKEN: 'tat_nothing' });
    expect([wrongKey.code, wrongKey.json.error.code]).toEqual([4, 'unauthorized']);
    const gone = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() });
    await gone.stop(true);
    const { code, json } = await tatami([...list, `http://127.0.0.1:${gone.port}`], { TATAMI_TOKEN: 'x' });
    expect([code, json.error]).toEqual([
      75,
      { code: 'unreachable', message: expect.stringContaining('tatami serve') },
    ]);
  });
});
