// The generated types of the SDK equal those of the contracts, and the server accepts every value that they allow.
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static } from 'typebox';
import * as sdk from '@tatami/sdk/plugin';
import type { Created, Patch, EntityResponse } from '../../../core/kernel/contract/contract.ts';
import { contracts } from '../../../core/features/contracts.ts';
import { compileCheck, compileQuery } from '../../../core/kernel/http/request/validate.ts';
import { textsOf } from '../../../core/kernel/http/values.ts';
import type { apiKey } from '../../../core/features/api-keys/contract.ts';
import type { member, workspace } from '../../../core/features/people/contract.ts';
import {
  gatewayCallOf,
  hostCallsOf,
  type HostCall,
} from '../../../core/features/plugins/host-calls/gateway.ts';
import type { plugin } from '../../../core/features/plugins/installs/contract.ts';
import { resourceRoutes } from '../../../core/app/features.ts';
import type { IssueCreate, IssueCreated } from '../../../core/features/issues/bodies.ts';
import type { comment } from '../../../core/features/comments/contract.ts';
import type { issue } from '../../../core/features/issues/contract.ts';
import type { label } from '../../../core/features/labels/contract.ts';
import type { project } from '../../../core/features/projects/contract.ts';
import type { team } from '../../../core/features/teams/contract.ts';
import type { state } from '../../../core/features/workflows/contract.ts';
import type { webhook } from '../../../core/features/webhooks/endpoints/contract.ts';
import { nowhere } from '../../api/seeds.ts';
import { root } from '../../imports.ts';
import { membersOf, namesOf, valuesOf } from '../../sdk/declared.ts';

/** Ignores readonly modifiers, and undefined for optional properties. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Name in keyof T]: Plain<Exclude<T[Name], undefined>> }
    : T;
type Same<A, B> = [Plain<A>, Plain<B>] extends [Plain<B>, Plain<A>] ? true : false;

test('the SDK types equal the contract types of the server (checked by `bun check`)', () => {
  const same: {
    responses: [
      Same<sdk.Issue, EntityResponse<typeof issue>>,
      Same<sdk.Comment, EntityResponse<typeof comment>>,
      Same<sdk.Project, EntityResponse<typeof project>>,
      Same<sdk.Label, EntityResponse<typeof label>>,
      Same<sdk.WorkflowState, EntityResponse<typeof state>>,
      Same<sdk.Team, EntityResponse<typeof team>>,
      Same<sdk.Member, EntityResponse<typeof member>>,
      Same<sdk.Workspace, EntityResponse<typeof workspace>>,
      Same<sdk.ApiKey, EntityResponse<typeof apiKey>>,
      Same<sdk.Webhook, EntityResponse<typeof webhook>>,
      Same<sdk.Plugin, EntityResponse<typeof plugin>>,
      Same<sdk.IssueCreated, Static<typeof IssueCreated>>,
    ];
    bodies: [
      Same<sdk.IssueCreate, Static<typeof IssueCreate>>,
      Same<sdk.IssuePatch, Patch<typeof issue>>,
      Same<sdk.CommentCreate, Created<typeof comment>>,
      Same<sdk.CommentPatch, Patch<typeof comment>>,
      Same<sdk.ProjectCreate, Created<typeof project>>,
      Same<sdk.ProjectPatch, Patch<typeof project>>,
      Same<sdk.LabelCreate, Created<typeof label>>,
      Same<sdk.LabelPatch, Patch<typeof label>>,
    ];
  } = {
    responses: [true, true, true, true, true, true, true, true, true, true, true, true],
    bodies: [true, true, true, true, true, true, true, true],
  };
  expect(Object.values(same).flat()).not.toContain(false);
});

describe('a route accepts the values that its SDK types allow:', () => {
  const signatures = readFileSync(join(root, 'sdk/generated/calls.ts'), 'utf8');
  const typesOf = (path: string, operation: string): string[] => {
    const spaces = [...signatures.matchAll(new RegExp(`readonly '?${path}'?: \\{(.*?)\\n  \\};`, 'gs'))];
    const calls = spaces.flatMap(([, space]) => [
      ...space!.matchAll(new RegExp(`^    ${operation}\\((.*?)\\): Promise`, 'gms')),
    ]);
    return calls.map(([, taken]) => taken!);
  };
  const typeOf = (taken: string, argument: string): string =>
    new RegExp(`${argument}\\??: (\\w+)`).exec(taken)![1]!;

  const argumentsOf = (
    [, { route, takes }]: [string, HostCall],
    bodyOrQuery: Record<string, unknown> | undefined,
  ) =>
    takes.map((argument) => {
      if (argument === 'id' || argument === 'memberId') return Object.values(nowhere)[0];
      if (argument === 'options') return { ifVersion: 1 };
      return argument === (route.body ? 'body' : 'query') ? bodyOrQuery : undefined;
    });

  test.each([...hostCallsOf(resourceRoutes)])('%s', (name, call) => {
    const [path = '', operation = ''] = name.split('.');
    const { route, takes } = call;
    const declared = typesOf(path, operation);
    expect(declared.length).toBeGreaterThan(0);
    const schema = route.body ?? route.query;
    if (!schema) return void gatewayCallOf(call, argumentsOf([name, call], undefined));
    const type = typeOf(declared.at(-1)!, route.body ? 'body' : 'query');
    const members = membersOf(`${path}.ts`, type);
    expect(members.map((member) => member.name).toSorted()).toEqual(namesOf(schema).toSorted());
    expect(takes).toContain(route.body ? 'body' : 'query');
    const check = route.body && compileCheck(route.body);
    const read = route.query && compileQuery(route.query);
    for (const value of valuesOf(members, schema)) {
      const { body, query = {} } = gatewayCallOf(call, argumentsOf([name, call], value));
      check?.(body);
      read?.(textsOf(query));
    }
  });
});

test('every contract call has SDK types, and every SDK call type has a contract', () => {
  const text = readFileSync(join(root, 'sdk/generated/calls.ts'), 'utf8');
  const spaces = new Set([...text.matchAll(/^  readonly '?([\w-]+)'?: \{/gm)].map(([, name]) => name!));
  const called = contracts.filter(({ calls = [] }) => calls.length > 0).map(({ path }) => path);
  expect([...spaces].toSorted()).toEqual(called.toSorted());
});
