// Builds installs of versions under test, without rows and in mode `simulate`.
import type { Install } from '../../installs/schema.ts';
import { installModel } from '../../installs/schema.ts';
import type { RequestedCode } from '../rows.ts';
import type { Version } from './trial.ts';
import { createValues } from '../values.ts';

/** @param isolateId install id for the isolates of the versions; must be unique to this backtest */
export function versionsOf({ installId, versions }: RequestedCode, isolateId: string): Version[] {
  return versions.map(({ code, grant, settings }, index) => ({
    install: asInstalled(installId, code, { grant, settings }),
    source: code.code,
    isolateId: `${isolateId}${index === 0 ? '' : `.${index}`}`,
    values: createValues(),
  }));
}

export function asInstalled(
  id: string,
  { manifest, sha256 }: RequestedCode['versions'][number]['code'],
  terms: Pick<Install, 'grant' | 'settings'>,
): Install {
  return installModel.create({
    id,
    pluginId: manifest.id,
    pluginVersion: manifest.version,
    sha256,
    manifest,
    ...terms,
    mode: 'simulate',
    modes: {},
    offered: {},
    secretsSet: {},
    publisher: null,
    pending: null,
    probationLeft: 0,
    budget: { whenSpent: 'stop' },
    state: 'active',
    stateReason: null,
    sinceSequence: 0,
    createdAt: 0,
    updatedAt: 0,
    deletedAt: null,
  }).after;
}
