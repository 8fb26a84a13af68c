// When a grant is good: until it is revoked, its member is removed, or its client is gone.
import { lastUsedIn } from '../last-used.ts';

/**
 * SQL, true where the client of a grant is there still. Whoever looks a grant up for a token asks it, so that a client that is gone has
 * no live grants from that commit on, whether or not each was told so already (`ending.ts`).
 * @param grants what the table is called in the statement
 */
export function clientIsThere(grants: string): string {
  return `CASE ${grants}.client_kind
    WHEN 'app' THEN substr(${grants}.client_id, 1, 4) <> 'app_'
      OR EXISTS (SELECT 1 FROM oauth_apps AS a WHERE a.id = ${grants}.client_id AND a.deleted_at IS NULL)
    WHEN 'registered' THEN EXISTS (SELECT 1 FROM oauth_clients AS c WHERE c.id = ${grants}.client_id)
    ELSE 1 END`;
}

/** For `Uses.note`, by which a request of a grant is noted. */
export const setGrantUsed = lastUsedIn('grants');
