// SQL for valid grants: not revoked, with a member who was not removed and a client that was not deleted.
import { lastUsedIn } from '../../people/index.ts';

/**
 * Returns a SQL condition that is true if the client of a grant exists. Every look-up of a grant for a token
 * uses the condition, so that the grants of a deleted client are invalid from the commit of the deletion,
 * before `ending.ts` revokes them.
 * @param grants alias of the table in the statement
 */
export function clientIsThere(grants: string): string {
  return `CASE ${grants}.client_kind
    WHEN 'app' THEN substr(${grants}.client_id, 1, 4) <> 'app_'
      OR EXISTS (SELECT 1 FROM oauth_apps AS a WHERE a.id = ${grants}.client_id AND a.deleted_at IS NULL)
    WHEN 'registered' THEN EXISTS (SELECT 1 FROM oauth_clients AS c WHERE c.id = ${grants}.client_id)
    ELSE 1 END`;
}

export const setGrantUsed = lastUsedIn('grants');
