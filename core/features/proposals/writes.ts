// Seals the recorded writes of a proposal, because a body may contain secrets, which the API shows masked.
import type { RequestedWrite } from '../../kernel/changes/staging.ts';
import { sealedFor, type SealedFor, type Sealing } from '../../platform/lib/secrets/sealing.ts';

export function sealWrites(
  sealing: Sealing,
  workspaceId: string,
  id: string,
  writes: readonly RequestedWrite[],
): string {
  const requests = writes.map(({ operation, input, ids }) => ({ operation, input, ids }));
  return seal(sealing, JSON.stringify(requests), sealedFor('proposal', workspaceId, id));
}

export function openWrites(
  sealing: Sealing,
  workspaceId: string,
  { id, writesSealed }: { readonly id: string; readonly writesSealed: string },
): readonly RequestedWrite[] {
  return JSON.parse(open(sealing, writesSealed, sealedFor('proposal', workspaceId, id))) as RequestedWrite[];
}

const seal = (sealing: Sealing, text: string, purpose: SealedFor): string =>
  Buffer.from(sealing.seal(text, purpose)).toString('base64');
const open = (sealing: Sealing, sealed: string, purpose: SealedFor): string =>
  sealing.open(new Uint8Array(Buffer.from(sealed, 'base64')), purpose);
