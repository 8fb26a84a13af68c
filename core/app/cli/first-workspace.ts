// Creates a workspace with the auto-triage plugin, for `init` and for the first start.
import { finishFirstStart } from '../setup/first-key.ts';
import { createWorkspace, type FirstWorkspace } from '../setup/first-workspace.ts';
import type { Tatami } from '../serve/serve.ts';
import { say } from './lib/output.ts';

const firstPlugin = 'auto-triage';

export interface CreatedWorkspace {
  readonly workspace: FirstWorkspace;
  /** False if the plugin could not be installed, which was reported. The workspace and its only key exist in either case. */
  readonly complete: boolean;
}

/** Creates the first workspace. Its key counts as shown once `markFirstKeySeen` was called. */
export async function makeWorkspace(
  tatami: Tatami,
  input: { name: string; teamKey: string; teamName: string },
): Promise<CreatedWorkspace> {
  const workspace = await createWorkspace(tatami.services, tatami.committer, {
    ...input,
    ownerName: 'Owner',
    isShownLater: true,
  });
  return { workspace, complete: await installFirst(tatami, workspace) };
}

/** Brings a start to its end that was killed before its key was shown; null where there is none. */
export async function finishWorkspace(tatami: Tatami): Promise<CreatedWorkspace | null> {
  const finished = await finishFirstStart(tatami.services, tatami.committer);
  if (!finished) return null;
  say('An earlier first start was interrupted before its key was shown. It is completed now with a new key.');
  const { workspace, hasPlugin } = finished;
  return { workspace, complete: hasPlugin || (await installFirst(tatami, workspace)) };
}

async function installFirst(tatami: Tatami, { workspaceId }: FirstWorkspace): Promise<boolean> {
  try {
    await tatami.installFirstParty(workspaceId, firstPlugin);
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(
      `${firstPlugin} could not be installed: ${why}\nInstall it later with \`tatami plugin install ${firstPlugin}\`.`,
    );
    return false;
  }
}
