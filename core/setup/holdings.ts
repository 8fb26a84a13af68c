// What a data directory holds, in a few words for whoever starts its server.
import { systemStatement } from '../store/statement.ts';
import { StoreError, type Store } from '../store/store.ts';
import { workspacesOf } from './keys/find.ts';

const installedPlugins = systemStatement<{ plugin_id: string }>(
  'plugins.of_operator',
  'who starts the server is told what it runs',
  'SELECT DISTINCT plugin_id FROM plugins WHERE deleted_at IS NULL ORDER BY plugin_id LIMIT 1000',
);

export interface Holdings {
  /** Their names, oldest first. */
  readonly workspaces: readonly string[];
  /** Their ids, each once. */
  readonly plugins: readonly string[];
}

/** Null where that cannot be read: the server says elsewhere what is wrong. */
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
