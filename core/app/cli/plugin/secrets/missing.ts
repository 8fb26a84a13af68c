// Says which secrets of an install nobody has set, by the command that sets them.

export interface WithSecrets {
  readonly pluginId: string;
  readonly secrets: readonly { readonly name: string; readonly setAt: string | null }[];
}

/** Lines below the one that tells what was done, each behind a line end; empty where all are set. */
export function missingSecrets({ pluginId, secrets }: WithSecrets): string {
  return secrets
    .filter(({ setAt }) => setAt === null)
    .map(({ name }) => `\n  ${name} is not set: tatami plugin secrets set ${pluginId} ${name}`)
    .join('');
}
