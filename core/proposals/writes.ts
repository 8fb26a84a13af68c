// The writes of a proposal as they were asked, sealed: a body may hold what is shown masked.
import type { AskedWrite } from '../changes/staging.ts';
import type { Sealing } from '../lib/sealing.ts';
import { systemStatement } from '../store/statement.ts';
import { systemOp, type Op, type Store } from '../store/store.ts';

const purposeOf = (workspaceId: string, id: string): string => `proposal:${workspaceId}:${id}`;

export function sealWrites(
  sealing: Sealing,
  workspaceId: string,
  id: string,
  writes: readonly AskedWrite[],
): string {
  const asked = writes.map(({ operation, input, ids }) => ({ operation, input, ids }));
  return seal(sealing, JSON.stringify(asked), purposeOf(workspaceId, id));
}

export function openWrites(
  sealing: Sealing,
  workspaceId: string,
  { id, writesSealed }: { readonly id: string; readonly writesSealed: string },
): readonly AskedWrite[] {
  return JSON.parse(open(sealing, writesSealed, purposeOf(workspaceId, id))) as AskedWrite[];
}

const seal = (sealing: Sealing, text: string, purpose: string): string =>
  Buffer.from(sealing.seal(text, purpose)).toString('base64');
const open = (sealing: Sealing, sealed: string, purpose: string): string =>
  sealing.open(new Uint8Array(Buffer.from(sealed, 'base64')), purpose);

const why = 'the master key is that of all workspaces';
const all = systemStatement<{ workspace_id: string; id: string; writes_sealed_json: string }>(
  'proposals.sealed',
  why,
  'SELECT workspace_id, id, writes_sealed_json FROM proposals',
);
const reseal = systemStatement(
  'proposals.reseal',
  why,
  'UPDATE proposals SET writes_sealed_json = :sealed WHERE workspace_id = :workspaceId AND id = :id',
);

/** Those of all proposals, under another master key. @throws Error where one does not open with `from` */
export async function resealProposals(store: Store, from: Sealing, to: Sealing): Promise<Op[]> {
  const rows = await store.readSystem(all);
  return rows.map(({ workspace_id: workspaceId, id, writes_sealed_json: sealed }) => {
    const purpose = purposeOf(workspaceId, id);
    const resealed = JSON.stringify(seal(to, open(from, JSON.parse(sealed) as string, purpose), purpose));
    return systemOp(reseal, { workspaceId, id, sealed: resealed }, { expectRows: 1 });
  });
}
