// Generates the members of `ctx` for the SDK's types and for the guest: one method per host call, with the arguments and the
// response of its route.
import type { Contract } from '../../core/kernel/contract/contract.ts';
import { contracts } from '../../core/features/contracts.ts';
import { successStatusOf } from '../../core/kernel/http/route.ts';
import {
  callName,
  methodName,
  type Argument,
  type HostCall,
  type HostCalls,
} from '../../core/features/plugins/host-calls/gateway.ts';
import type { Library } from './library.ts';
import { bodyName, fileOf, queryName } from './objects.ts';
import { choosingOf, idNameOf, itemOfPage } from './signatures.ts';
import { docText, type JsonSchema } from './type-text.ts';

interface Call extends HostCall {
  readonly contract: Contract;
  readonly operation: string;
}

interface Namespace {
  readonly path: string;
  readonly scope: string;
  readonly reads: readonly Call[];
  readonly writes: readonly Call[];
}

function namespacesOf(hostCalls: HostCalls): Namespace[] {
  return contracts.flatMap((contract) => {
    const calls = (contract.calls ?? []).map((operation) => callOf(contract, operation, hostCalls));
    const reads = calls.filter(({ isRead }) => isRead);
    const writes = calls.filter(({ isRead }) => !isRead);
    return calls.length === 0
      ? []
      : [{ path: contract.path, scope: contract.scope ?? contract.path, reads, writes }];
  });
}

function callOf(contract: Contract, operation: string, hostCalls: HostCalls): Call {
  const name = callName(contract, operation);
  const call = hostCalls.get(name);
  if (!call) throw new Error(`Unknown host call ${name}.`);
  return { ...call, contract, operation: methodName(operation) };
}

/** Generates the table from which the guest builds `ctx`. */
export function surfaceText(hostCalls: HostCalls): string {
  const rows = namespacesOf(hostCalls).map(({ path, scope, reads, writes }) => ({
    name: path,
    scope,
    reads: reads.map(({ operation }) => operation),
    writes: writes.map(({ operation }) => operation),
  }));
  return `/** Namespace of \`ctx\`. */
    export interface Namespace {
      readonly name: string;
      /** Resource of the scopes that the namespace needs. */
      readonly scope: string;
      /** Methods allowed by \`<scope>:read\`; \`writes\` need \`<scope>:write\`. */
      readonly reads: readonly string[];
      readonly writes: readonly string[];
    }

    export const surface: readonly Namespace[] = ${JSON.stringify(rows)};`;
}

/** Generates the types of `ctx`. */
export function writeCalls(library: Library, file: string, hostCalls: HostCalls): void {
  const namespaces = namespacesOf(hostCalls);
  const add = (name: string, doc: string, callsOf: (one: Namespace) => readonly Call[]): void => {
    const members = namespaces
      .filter((one) => callsOf(one).length > 0)
      .map((one) => {
        const methods = callsOf(one).map((call) => methodsText(call, library));
        return `readonly ${JSON.stringify(one.path)}: {\n${methods.join('\n')}\n};`;
      });
    library.add(file, name, `${docText(doc)}export interface ${name} {\n${members.join('\n')}\n}`);
  };
  add('ReadCalls', 'Calls allowed by the read scope, by namespace.', ({ reads }) => reads);
  add('WriteCalls', 'Calls that need the write scope, by namespace.', ({ writes }) => writes);
  const scopes = namespaces.map(
    ({ path, scope }) => `readonly ${JSON.stringify(path)}: ${JSON.stringify(scope)};`,
  );
  const doc = docText('Resource of the required scopes, by namespace of `ctx`.');
  library.add(file, 'ScopeNamespaces', `${doc}export interface ScopeNamespaces {\n${scopes.join('\n')}\n}`);
}

/** Generates the signatures of a call. */
function methodsText(call: Call, library: Library): string {
  const { summary, description = '' } = call.route;
  const doc = docText([`${summary}.`, description].filter((words) => words !== '').join(' '));
  return signaturesOf(call, library)
    .map((signature) => `${doc}${call.operation}${signature};`)
    .join('\n');
}

/**
 * Returns the signatures of a call. A call that can select fields has two: without a selection it returns
 * whole objects.
 */
function signaturesOf(call: Call, library: Library): string[] {
  const choosing = choosingOf(call.route);
  const query = queryName(call.contract.title, call.operation);
  const signature = (queryType: string, mustHaveQuery: boolean, chosen: boolean): string =>
    `(${argumentsText(call, queryType, mustHaveQuery)}): Promise<${answerText(call, chosen, library)}>`;
  const needsQuery = (call.route.query?.required ?? []).length > 0;
  if (choosing === undefined) return [signature(query, needsQuery, false)];
  return [signature(`${query} & { ${choosing}?: never }`, needsQuery, false), signature(query, true, true)];
}

function argumentsText({ contract, operation, takes, route }: Call, query: string, needsQuery: boolean) {
  const texts: Readonly<Record<Argument, () => string>> = {
    id: () => `${idNameOf(contract, route)}: string`,
    memberId: () => 'memberId: string',
    body: () => `body: ${bodyName(contract.title, operation)}`,
    query: () => `query${needsQuery ? '' : '?'}: ${query}`,
    options: () => 'options?: VersionOptions',
  };
  return takes.map((argument) => texts[argument]()).join(', ');
}

/** @param chosen true if the call selects fields */
function answerText({ contract, route }: Call, chosen: boolean, library: Library): string {
  const schema = route.responses[successStatusOf(route)] as JsonSchema | null | undefined;
  if (!schema) return 'void';
  const item = itemOfPage(schema);
  const { properties = {} } = item ?? schema;
  const type = library.typeIn(fileOf(contract), item ?? schema, true);
  const selected = chosen ? `Chosen<${type}>` : type;
  const received = 'description' in properties ? `Received<${selected}>` : selected;
  return item ? `Page<${received}>` : received;
}
