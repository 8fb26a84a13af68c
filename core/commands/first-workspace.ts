// A workspace made on the spot, for `init` and for the first start: with the auto-triage plugin in it.
import { createWorkspace, type FirstWorkspace } from '../setup/first-workspace.ts';
import type { Tatami } from '../serve.ts';
import { say } from './output.ts';

const firstPlugin = 'auto-triage';

export interface MadeWorkspace {
  readonly workspace: FirstWorkspace;
  /** False: the plugin could not be installed, which was said. The workspace and its only key exist all the same. */
  readonly complete: boolean;
}

export async function makeWorkspace(
  tatami: Tatami,
  input: { name: string; teamKey: string; teamName: string },
): Promise<MadeWorkspace> {
  const workspace = await createWorkspace(tatami.services, tatami.committer, {
    ...input,
    ownerName: 'Owner',
  });
  try {
    await tatami.installFirstParty(workspace.workspaceId, firstPlugin);
    return { workspace, complete: true };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    say(
      `${firstPlugin} is not installed: ${why}\nInstall it later with \`tatami plugin install ${firstPlugin}\`.`,
    );
    return { workspace, complete: false };
  }
}
