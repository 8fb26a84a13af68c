import { compileCheck } from '../../../kernel/http/request/validate.ts';
import { ApiError, type ErrorCode } from '../../../platform/lib/errors/errors.ts';
import { Refused, type Agent, type Json } from '../agent.ts';
import type { Decisions } from '../decisions.ts';
import { automationTools } from './automations.ts';
import { issueTools } from './issues.ts';
import { otherTools } from './others.ts';
import { jsonSchemaOf, listedInput, type RouteOf, type Tool } from './tool.ts';

/** Entry of `tools/list`. */
interface ListedTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Json & { readonly type: 'object' };
  readonly outputSchema: Json & { readonly type: 'object' };
  readonly annotations: Readonly<
    Record<'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint', boolean>
  >;
}

/** Result of a call. API errors are results as well, so that the agent can react to them. */
export type ToolAnswer = {
  readonly content: { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
};

export interface Tools {
  readonly listed: readonly ListedTool[];
  /** @returns null for an unknown tool */
  scopesOf(name: string): readonly string[] | null;
  call(name: string, args: Json, agent: Agent): Promise<ToolAnswer>;
}

export function createTools(
  routeOf: RouteOf,
  { baseUrl, decisions }: { baseUrl: string; decisions: Decisions },
): Tools {
  const tools = [issueTools, otherTools, automationTools].flatMap((make) => make(routeOf, baseUrl));
  const byName = new Map(tools.map((tool) => [tool.name, { tool, check: compileCheck(tool.input) }]));
  return {
    listed: tools.map(listedOf),
    scopesOf(name) {
      const entry = byName.get(name);
      return entry
        ? [...new Set(entry.tool.operations.map((operation) => routeOf(operation).scope ?? []).flat())]
        : null;
    },
    async call(name, args, agent) {
      try {
        const entry = byName.get(name);
        if (!entry)
          throw new ApiError('not_found', `There is no tool ${name}. Use a tool that tools/list returns.`);
        entry.check(args);
        const answer = await entry.tool.call({ agent, args, decisions });
        return {
          content: [{ type: 'text', text: JSON.stringify(answer) }],
          structuredContent: { ...answer },
        };
      } catch (error) {
        if (error instanceof Refused) return refusalOf(error.error, error.requestId);
        if (error instanceof ApiError) return refusalOf(error);
        throw error;
      }
    },
  };
}

/** Remedies for errors whose message has none. */
const advice: Readonly<Partial<Record<ErrorCode, string>>> = {
  conflict: 'Read the object again and decide again.',
  precondition_failed: 'Read the object again and give its current version.',
  idempotency_key_reused: 'Use a new idempotency_key for another change.',
  insufficient_scope:
    'Ask the person to grant the scope or to make the change. A retry of the same call fails.',
  invalid_cursor: 'Start with the first page: leave `after` out.',
  not_found: 'Search with issues_search, or ask the person.',
};

/** Converts an error to a result with the error envelope of the API. */
function refusalOf({ code, message, details }: ApiError, requestId?: string): ToolAnswer {
  const fix = advice[code];
  const error = { code, message, details, ...(fix ? { fix } : {}), ...(requestId ? { requestId } : {}) };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify({ error }) }] };
}

function listedOf(tool: Tool): ListedTool {
  const { name, title, description, isRead, isDestructive, isIdempotent } = tool;
  return {
    name,
    title,
    description,
    inputSchema: jsonSchemaOf(listedInput(tool.input), 'given') as ListedTool['inputSchema'],
    outputSchema: jsonSchemaOf(tool.output, 'shown') as ListedTool['outputSchema'],
    annotations: {
      readOnlyHint: isRead,
      destructiveHint: isDestructive,
      idempotentHint: isIdempotent,
      // Tools access only the workspace, nothing external.
      openWorldHint: false,
    },
  };
}
