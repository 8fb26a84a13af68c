// Summary of a data directory for the start block.
import { systemStatement } from '../../platform/store/statement.ts';
import { StoreError, type Store } from '../../platform/store/store.ts';
import { workspacesOf } from './keys/find.ts';

const installedPlugins = systemStatement<{ plugin_id: string }>(
  'plugins.of_operator',
  'the start block lists the plugins of the installation',
  'SELECT DISTINCT plugin_id FROM plugins WHERE deleted_at IS NULL ORDER BY plugin_id LIMIT 1000',
);

export interface Holdings {
  /** Names, oldest first. */
  readonly workspaces: readonly string[];
  /** Ids without duplicates. */
  readonly plugins: readonly string[];
}

/** Returns null if the store cannot be read; the server reports that error elsewhere. */
export async function holdingsOf(store: Store): Promise<Holdings | null> {
  try {
    const [workspaces, plugins] = await Promise.all([
      workspacesOf(store),
      store.readSystem(installedPlugins),
    ]);
    return {
      workspaces: workspaces.map(({ name }) => name),
      plugins: plugins.map(({ plugin_id: id }) => id),
    };
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}
